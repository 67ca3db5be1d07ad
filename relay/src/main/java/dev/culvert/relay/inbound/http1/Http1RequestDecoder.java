package dev.culvert.relay.inbound.http1;

import dev.culvert.relay.quota.CallerLimits;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.DecoderResult;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpMessage;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpRequestDecoder;
import io.netty.handler.codec.http.LastHttpContent;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;

/**
 * Decodes HTTP/1.1 requests strictly (RFC 9112): a request that could be read in two ways fails. Unlike
 * Netty's decoder, it also refuses folded fields and loose white space in the request line.
 */
public final class Http1RequestDecoder extends HttpRequestDecoder {
    /** The maximum length of the pieces in which a body is passed on. Larger pieces only arrive later. */
    private static final int MAX_CHUNK = 64 << 10;
    /** Room for the method and the version beside the target. */
    private static final int LINE_OVERHEAD = 64;

    private final HeadLines lines = new HeadLines();
    private final WholeRequestReader whole;
    /** Whether Netty's decoder has seen nothing of the next message. */
    private boolean untouched = true;
    private boolean partialHead;
    private boolean inHead = true;
    private BooleanSupplier stopped = () -> false;

    public Http1RequestDecoder(CallerLimits limits) {
        super(new HttpDecoderConfig()
                .setMaxInitialLineLength((int) limits.maxUriBytes().bytes() + LINE_OVERHEAD)
                .setMaxHeaderSize((int) limits.maxHeadBytes().bytes())
                .setMaxChunkSize(MAX_CHUNK)
                .setAllowDuplicateContentLengths(false)
                .setStrictLineParsing(true)
                .setUseRfc9112TransferEncoding(true));
        whole = new WholeRequestReader(limits);
    }

    /** Passes requests for these targets on as {@link HttpRequest}, never as {@link WholeRequest}. */
    void decline(Predicate<CharSequence> targets) {
        whole.decline(targets);
    }

    /**
     * Decodes no further message while {@code condition} holds, because messages need less memory as bytes.
     * Decoding continues with the next read, or an empty one.
     */
    void stopWhile(BooleanSupplier condition) {
        stopped = condition;
    }

    /** Whether a head has begun to arrive and is not complete. */
    boolean isPartialHead() {
        return partialHead;
    }

    /**
     * Decodes. One call takes a head or a part of one, or body bytes, or the lines between and after chunks,
     * but never two of these.
     */
    @Override
    protected void decode(ChannelHandlerContext ctx, ByteBuf in, List<Object> out) throws Exception {
        if (stopped.getAsBoolean()) {
            return;
        }
        WholeRequest request = untouched ? whole.read(in) : null;
        if (request != null) {
            out.add(request);
            return;
        }
        untouched = false;
        int before = out.size();
        int start = in.readerIndex();
        super.decode(ctx, in, out);
        if (out.size() == before) {
            lines.take(in, start, in.readerIndex());
            partialHead |= inHead && in.readerIndex() > start;
            return;
        }
        HttpObject first = (HttpObject) out.get(before);
        if (!(first instanceof HttpContent content && content.content().isReadable())) {
            lines.take(in, start, in.readerIndex());
            if (lines.areLoose()) {
                first.setDecoderResult(DecoderResult.failure(new IllegalArgumentException("loose lines")));
            }
        }
        partialHead = false;
        inHead = out.getLast() instanceof LastHttpContent;
        boolean failed = first.decoderResult().isFailure()
                || ((HttpObject) out.getLast()).decoderResult().isFailure();
        untouched = inHead && !failed; // where the next message begins is unknown
        lines.reset(inHead);
    }

    @Override
    protected String splitFirstWordInitialLine(byte[] line, int start, int length) {
        lines.word(line, start, length, false);
        return super.splitFirstWordInitialLine(line, start, length);
    }

    @Override
    protected String splitSecondWordInitialLine(byte[] line, int start, int length) {
        lines.word(line, start, length, true);
        return super.splitSecondWordInitialLine(line, start, length);
    }

    @Override
    protected String splitThirdWordInitialLine(byte[] line, int start, int length) {
        lines.word(line, start, length, true);
        String version = super.splitThirdWordInitialLine(line, start, length);
        // RFC 9112 §2.3: the version is case-sensitive, and no other version of HTTP/1 is in use.
        lines.require(version.equals("HTTP/1.1") || version.equals("HTTP/1.0"));
        return version;
    }

    /** Refuses a message with both lengths (RFC 9112 §6.3): it is an attack or comes from a broken sender. */
    @Override
    protected void handleTransferEncodingChunkedWithContentLength(HttpMessage message) {
        message.setDecoderResult(DecoderResult.failure(new IllegalArgumentException("two lengths")));
    }
}
