package dev.culvert.server;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.DecoderResult;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpMessage;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpRequestDecoder;
import java.util.List;

/** HTTP/1.1 requests, strictly (RFC 9112): what could be read in two ways fails to decode. */
final class EdgeRequestDecoder extends HttpRequestDecoder {
    /** A body is handed on in pieces of at most this: larger ones only wait longer. */
    private static final int MAX_CHUNK = 64 << 10;
    /** Room for the method and the version beside the target. */
    private static final int LINE_OVERHEAD = 64;

    private boolean partialHead;

    EdgeRequestDecoder(CallerLimits limits) {
        super(new HttpDecoderConfig()
                .setMaxInitialLineLength((int) limits.maxUriBytes().bytes() + LINE_OVERHEAD)
                .setMaxHeaderSize((int) limits.maxHeadBytes().bytes())
                .setMaxChunkSize(MAX_CHUNK)
                .setAllowDuplicateContentLengths(false)
                .setStrictLineParsing(true)
                .setUseRfc9112TransferEncoding(true));
    }

    /** Whether a head has begun to arrive and is not complete. */
    boolean isPartialHead() {
        return partialHead;
    }

    @Override
    protected void decode(ChannelHandlerContext ctx, ByteBuf in, List<Object> out) throws Exception {
        int before = out.size();
        boolean some = in.isReadable();
        super.decode(ctx, in, out);
        if (out.size() > before) {
            partialHead = false;
        } else if (some) {
            partialHead = true;
        }
    }

    /** RFC 9112 §6.3: both lengths in one message are an attack or a broken sender. */
    @Override
    protected void handleTransferEncodingChunkedWithContentLength(HttpMessage message) {
        message.setDecoderResult(DecoderResult.failure(new IllegalArgumentException("two lengths")));
    }

    /** Whether the request announces a body. */
    static boolean hasBody(HttpRequest request) {
        var headers = request.headers();
        String length = headers.get("content-length");
        return headers.contains("transfer-encoding") || (length != null && !length.trim().equals("0"));
    }
}
