package dev.culvert.handlers.graphql;

/**
 * What a GraphQL endpoint accepts. A document beyond one of these is refused with 400 before it is validated: validation itself
 * costs more than linear time.
 *
 * @param maxBodyBytes a request's body; files to commit travel in its variables
 * @param maxBufferedBytes what requests that arrive and are served may take together, of which one caller has half at most;
 *     beyond it the newest of the heaviest caller gets 503
 * @param strangerBodyBytes a request's body while it is not known who calls
 * @param maxDocumentChars the document
 * @param maxDepth fields inside of fields; the introspection of common tools needs 15
 * @param maxFields fields of a document, each counted as often as its fragments are spread
 * @param maxRootFields root fields of one operation, aliases included: each is a call
 */
public record GraphQlLimits(int maxBodyBytes, long maxBufferedBytes, int strangerBodyBytes,
        int maxDocumentChars,
        int maxDepth,
        int maxFields, int maxRootFields) {
    /** 8 MiB, 64 MiB in all, 64 KiB of strangers, 256 Ki characters, depth 20, 1000 fields, 16 of them at the root. */
    public static GraphQlLimits defaults() {
        return new GraphQlLimits(8 << 20, 64L << 20, 64 << 10, 256 << 10, 20, 1000, 16);
    }
}
