package dev.culvert.relay.outbound;

import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.DecoderResult;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpMessage;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseDecoder;

/** An upstream's HTTP/1.1 responses, strictly: what could be read in two ways fails to decode. */
final class Http1ResponseDecoder extends HttpResponseDecoder {
    /** The edge's 64 KiB and 8 KiB more. */
    private static final int MAX_HEAD_BYTES = 72 << 10;
    private static final int MAX_LINE_BYTES = 8 << 10;
    /** A body is handed on in pieces of at most this: larger ones only wait longer. */
    private static final int MAX_CHUNK_BYTES = 64 << 10;

    private boolean toHead;
    private boolean receiving;

    Http1ResponseDecoder() {
        super(new HttpDecoderConfig().setMaxInitialLineLength(MAX_LINE_BYTES)
                .setMaxHeaderSize(MAX_HEAD_BYTES)
                .setMaxChunkSize(MAX_CHUNK_BYTES)
                .setAllowDuplicateContentLengths(false)
                .setStrictLineParsing(true)
                .setUseRfc9112TransferEncoding(true));
    }

    /** Begins a response; one to HEAD has no body whatever it says. */
    void expect(boolean toHead) {
        this.toHead = toHead;
        receiving = false;
    }

    /** Ends a response. From now on nothing should come. */
    void rest() {
        receiving = actualReadableBytes() > 0;
    }

    /** Whether bytes came since {@link #expect} or {@link #rest}. */
    boolean isReceiving() {
        return receiving;
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object input) throws Exception {
        receiving = true;
        super.channelRead(ctx, input);
    }

    @Override
    protected boolean isContentAlwaysEmpty(HttpMessage message) {
        int status = ((HttpResponse) message).status().code();
        return status < 200 || status == 204 || status == 304 || toHead;
    }

    /** RFC 9112 §6.3: both lengths in one message are an attack or a broken sender. */
    @Override
    protected void handleTransferEncodingChunkedWithContentLength(HttpMessage message) {
        message.setDecoderResult(DecoderResult.failure(new IllegalArgumentException("two lengths")));
    }
}
