package dev.culvert.relay;

import io.netty.handler.codec.http2.DefaultHttp2RemoteFlowController;
import io.netty.handler.codec.http2.Http2Connection;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.UniformStreamByteDistributor;

/**
 * Flow control towards a peer of HTTP/2 in which all streams share equally, because priorities are deprecated
 * (RFC 9113 §5.3). SETTINGS that overflow a stream's window end the connection (RFC 9113 §6.9.2), where
 * Netty's own controller resets one stream.
 */
public final class StrictWindows extends DefaultHttp2RemoteFlowController {
    private StrictWindows(Http2Connection connection) {
        super(connection, new UniformStreamByteDistributor(connection));
    }

    /** Controls the bytes that are sent on this connection. */
    public static void control(Http2Connection connection) {
        connection.remote().flowController(new StrictWindows(connection));
    }

    @Override
    public void initialWindowSize(int size) throws Http2Exception {
        try {
            super.initialWindowSize(size);
        } catch (Http2Exception e) {
            throw e.error() == Http2Error.FLOW_CONTROL_ERROR
                    ? Http2Exception.connectionError(Http2Error.FLOW_CONTROL_ERROR, e,
                            "SETTINGS overflow the window of a stream")
                    : e;
        }
    }
}
