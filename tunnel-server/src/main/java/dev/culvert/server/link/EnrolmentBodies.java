package dev.culvert.server.link;

import dev.culvert.server.enrol.EnrolmentService;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.DecoderResult;
import io.netty.handler.codec.http.DefaultFullHttpRequest;
import io.netty.handler.codec.http.HttpMessage;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.TooLongHttpContentException;

/**
 * Aggregates request bodies. A body that is too large is passed on as a failed request, so it is answered
 * like any other invalid request.
 */
final class EnrolmentBodies extends HttpObjectAggregator {
    EnrolmentBodies() {
        super(EnrolmentService.MAX_BODY_BYTES, true);
    }

    @Override
    protected void handleOversizedMessage(ChannelHandlerContext ctx, HttpMessage oversized) {
        if (!(oversized instanceof HttpRequest request)) {
            ctx.close();
            return;
        }
        var refused = new DefaultFullHttpRequest(request.protocolVersion(), request.method(), request.uri(),
                Unpooled.EMPTY_BUFFER);
        refused.headers().set(request.headers());
        refused.setDecoderResult(DecoderResult.failure(new TooLongHttpContentException("body too large")));
        ctx.fireChannelRead(refused);
    }
}
