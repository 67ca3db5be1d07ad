package dev.culvert.benchmarks.result;

/**
 * The load of a cell. Only targets under the same load are compared.
 *
 * @param callers the exchanges under way at once, or the most in an open loop
 * @param rate arrivals a second; 0: a closed loop
 */
record LoadKey(String scenario, int callers, double rate) {

    static LoadKey of(Cell cell) {
        return new LoadKey(cell.scenario(), cell.callers(), cell.rate());
    }

    /** A heading such as "get, 32 callers, 5000 arrivals/s". */
    String label() {
        String label = scenario + ", " + callers + (callers == 1 ? " caller" : " callers");
        return rate > 0 ? label + ", " + Numbers.trimmed(rate) + " arrivals/s" : label;
    }
}
