package dev.culvert.relay.testing;

import dev.culvert.certs.tls.ServerTrust;
import dev.culvert.certs.tls.TlsContexts;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.util.ReferenceCountUtil;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import java.util.List;
import javax.net.ssl.SNIHostName;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;
import org.jspecify.annotations.Nullable;

/** The first bytes of TLS connections: real ones, and what can be made of them. */
public final class ClientHelloBytes {
    private static final int RECORD_HEAD = 5;

    private ClientHelloBytes() {}

    /** What a JDK's client sends first, in one record; {@code protocols} are the versions that it offers, not given: its own. */
    public static byte[] real(@Nullable String serverName, String... protocols) {
        try {
            SSLContext tls = SSLContext.getInstance("TLS");
            tls.init(null, null, null);
            SSLEngine engine = tls.createSSLEngine();
            engine.setUseClientMode(true);
            if (protocols.length > 0) {
                engine.setEnabledProtocols(protocols);
            }
            if (serverName != null) {
                SSLParameters parameters = engine.getSSLParameters();
                parameters.setServerNames(List.of(new SNIHostName(serverName)));
                engine.setSSLParameters(parameters);
            }
            ByteBuffer out = ByteBuffer.allocate(engine.getSession().getPacketBufferSize());
            engine.wrap(ByteBuffer.allocate(0), out);
            byte[] bytes = new byte[out.flip().remaining()];
            out.get(bytes);
            return bytes;
        } catch (GeneralSecurityException | SSLException e) {
            throw new IllegalStateException(e);
        }
    }

    /** What BoringSSL's client sends first, with a share of X25519MLKEM768: 1.5 KB, in one record. */
    public static byte[] postQuantum(String serverName) {
        SSLEngine engine = TlsContexts
                .client(ServerTrust.inSystemRoots(), null, List.of("h2", "http/1.1"))
                .newEngine(UnpooledByteBufAllocator.DEFAULT, serverName, 443);
        try {
            ByteBuffer out = ByteBuffer.allocate(engine.getSession().getPacketBufferSize());
            engine.wrap(ByteBuffer.allocate(0), out);
            byte[] bytes = new byte[out.flip().remaining()];
            out.get(bytes);
            return bytes;
        } catch (SSLException e) {
            throw new IllegalStateException(e);
        } finally {
            ReferenceCountUtil.release(engine);
        }
    }

    /** The same handshake bytes, cut into records of at most so many. */
    public static byte[] inRecords(byte[] hello, int most) {
        var out = new ByteArrayOutputStream();
        for (int from = RECORD_HEAD; from < hello.length; from += most) {
            int part = Math.min(most, hello.length - from);
            out.write(22);
            out.write(3);
            out.write(1);
            out.write(part >> 8);
            out.write(part);
            out.write(hello, from, part);
        }
        return out.toByteArray();
    }

    /** A handshake message in as many records as it needs. */
    public static byte[] message(int type, byte[] body) {
        var whole = new ByteArrayOutputStream();
        whole.writeBytes(new byte[RECORD_HEAD]);
        whole.write(type);
        whole.write(body.length >> 16);
        whole.write(body.length >> 8);
        whole.write(body.length);
        whole.writeBytes(body);
        return inRecords(whole.toByteArray(), 16 << 10);
    }

    /** The body of a ClientHello with these extensions, as they are given. */
    public static byte[] body(byte[] extensions) {
        var out = new ByteArrayOutputStream();
        out.write(3);
        out.write(3);
        out.writeBytes(new byte[32]);
        out.write(0);
        out.writeBytes(new byte[]{0, 2, 0x13, 1, 1, 0});
        out.write(extensions.length >> 8);
        out.write(extensions.length);
        out.writeBytes(extensions);
        return out.toByteArray();
    }

    /** A server_name extension that holds this list of names. */
    public static byte[] serverNames(byte[] list) {
        var out = new ByteArrayOutputStream();
        out.writeBytes(new byte[]{0, 0, (byte) ((list.length + 2) >> 8), (byte) (list.length + 2),
                (byte) (list.length >> 8), (byte) list.length});
        out.writeBytes(list);
        return out.toByteArray();
    }

    /** One name of a list. */
    public static byte[] name(int type, String name) {
        var out = new ByteArrayOutputStream();
        out.write(type);
        out.write(name.length() >> 8);
        out.write(name.length());
        for (int i = 0; i < name.length(); i++) {
            out.write(name.charAt(i));
        }
        return out.toByteArray();
    }

    public static byte[] join(byte[]... parts) {
        var out = new ByteArrayOutputStream();
        for (byte[] part : parts) {
            out.writeBytes(part);
        }
        return out.toByteArray();
    }
}
