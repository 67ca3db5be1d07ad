package dev.culvert.http.net;

import dev.culvert.http.fields.Http1Grammar;
import dev.culvert.http.fields.JudgedMessage;
import dev.culvert.http.problem.Problem;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.http.problem.Problem.Hop;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.TooLongFrameException;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpRequestDecoder;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.codec.http.TooLongHttpLineException;
import java.util.List;
import java.util.function.Consumer;

/**
 * Decodes HTTP/1.1 requests, on every listener. Those that {@link Http1Grammar} finds at fault fail, however
 * they decode, and so does everything behind them.
 */
public class JudgedRequestDecoder extends HttpRequestDecoder {
    /** The maximum length of the pieces in which a body is passed on. Larger pieces only arrive later. */
    private static final int MAX_CHUNK = 64 << 10;
    /** Room for the method and the version beside the target. */
    private static final int LINE_OVERHEAD = Http1Grammar.MAX_METHOD + "  HTTP/1.1".length();

    private final Http1Grammar grammar = Http1Grammar.ofRequests();
    private final Consumer<HttpMethod> requested;
    /** Whether Netty's decoder has seen nothing of the next message. */
    private boolean untouched = true;
    private boolean partialHead;
    private boolean inHead = true;

    /** As the other constructor, where responses are not paired with requests. */
    public JudgedRequestDecoder(int maxTargetBytes, int maxHeadBytes) {
        this(maxTargetBytes, maxHeadBytes, method -> {});
    }

    /**
     * Creates the decoder of one connection.
     *
     * @param maxTargetBytes with a much longer target a request fails with Netty's TooLongHttpLineException
     * @param maxHeadBytes with a larger header section it fails with Netty's TooLongHttpHeaderException
     * @param requested receives the method of each request, before the request is passed on
     */
    public JudgedRequestDecoder(int maxTargetBytes, int maxHeadBytes, Consumer<HttpMethod> requested) {
        super(new HttpDecoderConfig()
                .setMaxInitialLineLength(maxTargetBytes + LINE_OVERHEAD)
                .setMaxHeaderSize(maxHeadBytes)
                .setMaxChunkSize(MAX_CHUNK)
                .setAllowDuplicateContentLengths(false)
                .setStrictLineParsing(true)
                .setUseRfc9112TransferEncoding(true));
        this.requested = requested;
    }

    /** Returns the problem of a request, or of a part of its body, that failed for {@code cause}. */
    public static Problem problem(Throwable cause, Hop hop) {
        return switch (cause) {
            case TooLongHttpLineException e ->
                Problem.of(Cause.URI_TOO_LONG, hop, "the request line is too long");
            case TooLongFrameException e -> Problem.of(Cause.HEAD_TOO_LARGE, hop, "the head is too large");
            case JudgedMessage.Fault e ->
                Problem.of(Cause.BAD_REQUEST, hop, "the request is not valid HTTP/1.1: " + e.getMessage());
            default -> Problem.of(Cause.BAD_REQUEST, hop, "the request is not valid HTTP/1.1");
        };
    }

    /** Whether a head has begun to arrive and is not complete. */
    public final boolean isPartialHead() {
        return partialHead;
    }

    /** Whether the next octet begins a request, so that another reader may read it. */
    protected final boolean isUntouched() {
        return untouched;
    }

    /** Decodes. One call takes a head or a part of one, or body bytes, but never of two messages. */
    @Override
    protected void decode(ChannelHandlerContext ctx, ByteBuf in, List<Object> out) throws Exception {
        untouched = false;
        int before = out.size();
        int start = in.readerIndex();
        super.decode(ctx, in, out);
        grammar.take(in, start, in.readerIndex());
        if (out.size() == before) {
            partialHead |= inHead && in.readerIndex() > start;
            return;
        }
        partialHead = false;
        inHead = out.getLast() instanceof LastHttpContent;
        // where the next message begins is unknown behind one that failed
        untouched = JudgedMessage.isSound(grammar, out, before) && inHead;
        if (out.get(before) instanceof HttpRequest request) {
            requested.accept(request.method());
        }
    }
}
