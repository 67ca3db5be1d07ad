package dev.culvert.relay.observe;

/**
 * A request with the number that it was given when it was kept.
 *
 * @param number increases with each request; greater than any number of an earlier process
 */
record KeptRequest(long number, EndedRequest request) {
    /** The memory of a kept request without its texts, roughly. */
    private static final int OVERHEAD = 512;
    private static final int RADIX = 36;

    /** The bytes that count for the bounds. */
    int bytes() {
        return OVERHEAD + request.textLength();
    }

    String id() {
        return Long.toString(number, RADIX);
    }

    RequestRecord toRecord() {
        return request.toRecord(id());
    }

    /** The number of an id; -1 if the text is no id. */
    static long number(String id) {
        try {
            return id.isEmpty() || id.length() > 12 ? -1 : Math.max(-1, Long.parseLong(id, RADIX));
        } catch (NumberFormatException e) {
            return -1;
        }
    }
}
