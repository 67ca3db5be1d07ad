package dev.culvert.e2e.hostile;

/**
 * What a hostile peer does.
 *
 * @param name the finding that it stands for
 * @param what it does, for the report
 * @param rate that of the finding, in whatever the scenario counts: connections, streams, or any of these a second; 0: it is
 *     done once, and takes what it takes
 * @param run until the attack ends; peers that it keeps are closed for it
 */
record Scenario(String name, String what, double rate, Run run) {

    /** Attacks at a rate, that of the finding or a multiple of it. */
    interface Run {
        void attack(Attack attack, double rate) throws Exception;
    }

    /** What a scenario does that is no load. */
    interface Deed {
        void run(Attack attack) throws Exception;
    }

    /** One that is done once: the answer matters, not how many there are. */
    static Scenario once(String name, String what, Deed deed) {
        return new Scenario(name, what, 0, (attack, rate) -> deed.run(attack));
    }

    boolean isLoad() {
        return rate > 0;
    }

    @Override
    public String toString() {
        return name + ": " + what;
    }
}
