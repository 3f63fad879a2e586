from attribute_planner.environments.blocks.verification import effective_pairs, verify_against_physics


def test_three_quarters_of_all_pairs_of_configuration_and_action_move_a_block():
    states, actions = effective_pairs()
    assert len(actions) == len(states.cells) == 320_760


def test_the_rule_of_the_grid_is_what_physics_does():
    agreement = verify_against_physics(sample=300, seed=7)
    assert (agreement.pairs, agreement.different) == (300, 0)
    assert agreement.position_error < 0.002  # metres: how deep the blocks of a tower press into each other
    assert agreement.angle_error < 0.1
