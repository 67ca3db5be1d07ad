package dev.culvert.edge.graphql;

/**
 * What a GraphQL endpoint accepts. A document beyond one of these is refused with 400 before it is validated: validation itself
 * costs more than linear time.
 *
 * @param maxBodyBytes a request's body; files to commit travel in its variables
 * @param maxBufferedBytes bodies of all requests that are served, together; beyond it 503
 * @param freeBodyBytes bodies that announce no more than this are not counted there
 * @param maxDocumentChars the document
 * @param maxDepth fields inside of fields; the introspection of common tools needs 15
 * @param maxFields fields of a document, each counted as often as its fragments are spread
 * @param maxRootFields root fields of one operation, aliases included: each is a call
 */
public record GraphQlLimits(int maxBodyBytes, long maxBufferedBytes, int freeBodyBytes, int maxDocumentChars,
        int maxDepth,
        int maxFields, int maxRootFields) {
    /** 8 MiB, 64 MiB in all beside those of up to 64 KiB, 256 Ki characters, depth 20, 1000 fields, 16 of them at the root. */
    public static GraphQlLimits defaults() {
        return new GraphQlLimits(8 << 20, 64L << 20, 64 << 10, 256 << 10, 20, 1000, 16);
    }
}
