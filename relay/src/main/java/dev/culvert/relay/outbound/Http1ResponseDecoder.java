package dev.culvert.relay.outbound;

import dev.culvert.http.fields.Http1Grammar;
import dev.culvert.http.fields.JudgedMessage;
import dev.culvert.relay.upstream.UpstreamLimits;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpMessage;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseDecoder;
import io.netty.handler.codec.http.HttpUtil;
import java.util.List;

/**
 * Decodes an upstream's HTTP/1.1 responses. Those that {@link Http1Grammar} finds at fault fail, however they
 * decode.
 */
final class Http1ResponseDecoder extends HttpResponseDecoder {
    private static final int MAX_LINE_BYTES = 8 << 10;
    /** The maximum length of the pieces in which a body is passed on. Larger pieces only arrive later. */
    private static final int MAX_CHUNK_BYTES = 64 << 10;

    private final WholeResponseReader whole = new WholeResponseReader(MAX_CHUNK_BYTES);
    private final Http1Grammar grammar = Http1Grammar.ofResponses();
    private boolean toHead;
    /** Whether Netty's decoder has seen nothing of the expected response. */
    private boolean untouched;
    private boolean receiving;

    Http1ResponseDecoder(UpstreamLimits limits) {
        super(new HttpDecoderConfig().setMaxInitialLineLength(MAX_LINE_BYTES)
                .setMaxHeaderSize(limits.headBytes())
                .setMaxChunkSize(MAX_CHUNK_BYTES)
                .setAllowDuplicateContentLengths(false)
                .setStrictLineParsing(true)
                .setUseRfc9112TransferEncoding(true));
    }

    /** Prepares for a response. A response to HEAD has no body, whatever its head declares. */
    void expect(boolean toHead) {
        this.toHead = toHead;
        grammar.expect(toHead);
        untouched = true;
        receiving = false;
    }

    /** Ends a response. No bytes are expected until the next {@link #expect}. */
    void rest() {
        receiving = actualReadableBytes() > 0;
    }

    /** Whether bytes arrived since {@link #expect} or {@link #rest}. */
    boolean isReceiving() {
        return receiving;
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object input) throws Exception {
        receiving = true;
        super.channelRead(ctx, input);
    }

    @Override
    protected void decode(ChannelHandlerContext ctx, ByteBuf in, List<Object> out) throws Exception {
        WholeResponse response = untouched && !toHead ? whole.read(in) : null;
        untouched = false;
        if (response != null) {
            out.add(response);
            return;
        }
        int before = out.size();
        int start = in.readerIndex();
        super.decode(ctx, in, out);
        grammar.take(in, start, in.readerIndex());
        // behind a 101 the decoder gives raw bytes
        if (out.size() > before && out.get(before) instanceof HttpObject) {
            JudgedMessage.isSound(grammar, out, before);
            if (grammar.isFramedInVain() && out.get(before) instanceof HttpResponse head) {
                HttpUtil.setKeepAlive(head, false); // octets that follow are not the next response
            }
        }
    }

    @Override
    protected boolean isContentAlwaysEmpty(HttpMessage message) {
        int status = ((HttpResponse) message).status().code();
        return status < 200 || status == 204 || status == 304 || toHead;
    }
}
