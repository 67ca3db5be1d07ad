package dev.culvert.e2e.hostile;

/**
 * What a hostile peer does.
 *
 * @param name the finding that it stands for
 * @param what it does, for the report
 * @param rate that of the finding, in whatever the scenario counts: connections, streams, or any of these a second
 * @param run until the attack ends; peers that it keeps are closed for it
 */
record Scenario(String name, String what, double rate, Run run) {

    /** Attacks at a rate, that of the finding or a multiple of it. */
    interface Run {
        void attack(Attack attack, double rate) throws Exception;
    }

    @Override
    public String toString() {
        return name + ": " + what;
    }
}
