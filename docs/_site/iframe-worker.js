// Search in pages that are read from the disk: browsers start no workers there, so the worker's script runs in a frame.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      this.loaded = new Promise((resolve) => {
        const frame = document.createElement("iframe");
        frame.hidden = true;
        document.documentElement.append(frame);
        const inside = frame.contentWindow;
        inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
        const script = inside.document.createElement("script");
        script.src = address;
        script.addEventListener("load", () => resolve(inside));
        inside.document.head.append(script);
      });
    }

    async postMessage(data) {
      const inside = await this.loaded;
      inside.dispatchEvent(new MessageEvent("message", { data }));
    }
  };
}
