package dev.culvert.relay.inbound.http1;

import dev.culvert.http.fields.Http1Grammar;
import dev.culvert.http.fields.JudgedMessage;
import dev.culvert.relay.quota.CallerLimits;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpRequestDecoder;
import io.netty.handler.codec.http.LastHttpContent;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;

/** Decodes HTTP/1.1 requests. Those that {@link Http1Grammar} finds at fault fail, however they decode. */
public final class Http1RequestDecoder extends HttpRequestDecoder {
    /** The maximum length of the pieces in which a body is passed on. Larger pieces only arrive later. */
    private static final int MAX_CHUNK = 64 << 10;
    /** Room for the method and the version beside the target. */
    private static final int LINE_OVERHEAD = 64;

    private final Http1Grammar grammar = Http1Grammar.ofRequests();
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

    /** Decodes. One call takes a head or a part of one, or body bytes, but never of two messages. */
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
        grammar.take(in, start, in.readerIndex());
        if (out.size() == before) {
            partialHead |= inHead && in.readerIndex() > start;
            return;
        }
        partialHead = false;
        inHead = out.getLast() instanceof LastHttpContent;
        // where the next message begins is unknown behind one that failed
        untouched = JudgedMessage.isSound(grammar, out, before) && inHead;
    }
}
