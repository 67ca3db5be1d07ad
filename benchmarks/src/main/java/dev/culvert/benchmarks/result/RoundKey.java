package dev.culvert.benchmarks.result;

/**
 * The round in which a cell was measured. Cells of one round ran next to each other, so they form pairs.
 *
 * @param file the position of the result file, from 1
 * @param start which start of the target's processes, from 1
 * @param round which round within the start, from 1
 */
record RoundKey(int file, int start, int round) {

    static RoundKey of(int file, Cell cell) {
        return new RoundKey(file, cell.start(), cell.round());
    }

    /** The start alone: rounds of one start have this key in common. */
    RoundKey startOnly() {
        return new RoundKey(file, start, 0);
    }

    String label() {
        return "start " + start + ", round " + round + (file == 1 ? "" : " of file " + file);
    }
}
