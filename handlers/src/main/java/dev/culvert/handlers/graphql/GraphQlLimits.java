package dev.culvert.handlers.graphql;

/**
 * Limits of a GraphQL endpoint. A document beyond a limit is refused with 400 before it is validated, because
 * validation takes more than linear time.
 *
 * @param maxBodyBytes the size of a request body; its variables contain the files to commit
 * @param maxBufferedBytes the total memory of requests that are received or served and of their answers, of
 *     which one caller may use at most half; beyond it the newest of the heaviest caller gives way
 * @param strangerBodyBytes the size of the request body of a caller that is not identified
 * @param maxDocumentChars the length of the document
 * @param maxDepth the depth of nested fields; the introspection of common tools needs 15
 * @param maxFields the number of fields of a document with its fragments expanded
 * @param maxRootFields the number of root fields of one operation, including aliases; each is a call
 * @param maxCallerFields the number of root fields of one caller that are called at a time, in all documents
 * @param maxAnswerBytes the memory of one answer: its values while it is made, and its JSON; also of one
 * event
 *     of a subscription
 * @param maxCallerStreams the number of subscriptions of one caller at a time
 */
public record GraphQlLimits(int maxBodyBytes, long maxBufferedBytes, int strangerBodyBytes,
        int maxDocumentChars,
        int maxDepth,
        int maxFields, int maxRootFields, int maxCallerFields, int maxAnswerBytes,
        int maxCallerStreams) {
    /**
     * 8 MiB for a body, 64 MiB in total, 64 KiB for unidentified callers, 256 Ki characters, depth 20, 1000
     * fields, 16 root fields, 64 of one caller, 16 MiB for an answer, 16 subscriptions of one caller.
     */
    public static GraphQlLimits defaults() {
        return new GraphQlLimits(8 << 20, 64L << 20, 64 << 10, 256 << 10, 20, 1000, 16, 64, 16 << 20, 16);
    }

    /** These limits with another total memory, and another memory for one answer. */
    public GraphQlLimits withMemory(long total, int answer) {
        return new GraphQlLimits(maxBodyBytes, total, strangerBodyBytes, maxDocumentChars, maxDepth,
                maxFields, maxRootFields, maxCallerFields, answer, maxCallerStreams);
    }
}
