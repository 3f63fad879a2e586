// Questions to the viewer in Python and its answers, over a WebSocket.

export class Connection {
  // changed: called with whether there is a connection.
  constructor(changed) {
    this.changed = changed;
    this.waiting = new Map();
    this.number = 0;
    this.open();
  }

  open() {
    const address = new URL("socket", location.href);
    address.protocol = address.protocol === "https:" ? "wss:" : "ws:";
    this.socket = new WebSocket(address);
    this.socket.addEventListener("open", () => this.changed(true));
    this.socket.addEventListener("message", (event) => this.receive(JSON.parse(event.data)));
    this.socket.addEventListener("close", () => {
      for (const { reject } of this.waiting.values()) reject(new Error("The connection was lost."));
      this.waiting.clear();
      this.changed(false);
      setTimeout(() => this.open(), 2000);
    });
  }

  ask(what, message = {}) {
    const id = ++this.number;
    return new Promise((resolve, reject) => {
      if (this.socket.readyState !== WebSocket.OPEN) return reject(new Error("There is no connection."));
      this.waiting.set(id, { resolve, reject });
      this.socket.send(JSON.stringify({ id, do: what, ...message }));
    });
  }

  receive(answer) {
    const asked = this.waiting.get(answer.id);
    this.waiting.delete(answer.id);
    if (!asked) return;
    if (answer.error) asked.reject(new Error(answer.error));
    else asked.resolve(answer);
  }
}
