package dev.culvert.relay.listen;

import dev.culvert.http.problem.EdgeException;
import dev.culvert.http.problem.Problem;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.http.problem.Problem.Hop;
import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Reads the server name from a complete ClientHello (RFC 8446 §4.1.2, RFC 6066 §3). Parsing is strict. Keeps
 * no state.
 */
final class ClientHello {
    private static final int RANDOM = 32;
    private static final int MAX_SESSION_ID = 32;
    private static final int SERVER_NAME = 0;
    private static final int HOST_NAME = 0;
    /** The maximum name length of RFC 1035 §2.3.4, plus a trailing dot. */
    private static final int MAX_NAME = 254;

    private ClientHello() {}

    /**
     * Returns the requested server name in lower case without a trailing dot, or null if the hello names
     * none.
     *
     * @param body the body of the handshake message, after its type and length. Borrowed; its reader index
     *     moves
     * @throws EdgeException if it is not a valid ClientHello
     */
    static @Nullable String serverName(ByteBuf body) {
        require(part(body, 2).readUnsignedByte() == 3); // legacy_version
        part(body, RANDOM);
        require(vector8(body).readableBytes() <= MAX_SESSION_ID);
        int suites = vector16(body).readableBytes();
        require(suites >= 2 && suites % 2 == 0);
        require(vector8(body).isReadable()); // legacy_compression_methods
        if (!body.isReadable()) {
            return null; // a ClientHello of TLS 1.2 or older may end here
        }
        ByteBuf extensions = vector16(body);
        require(!body.isReadable());
        ByteBuf names = null;
        while (extensions.isReadable()) {
            int type = part(extensions, 2).readUnsignedShort();
            ByteBuf data = vector16(extensions);
            if (type == SERVER_NAME) {
                require(names == null);
                names = data;
            }
        }
        return names == null ? null : hostName(names);
    }

    /** Parses the extension of RFC 6066 §3: a list with exactly one name, of the only type defined. */
    private static String hostName(ByteBuf extension) {
        ByteBuf list = vector16(extension);
        require(!extension.isReadable());
        require(part(list, 1).readUnsignedByte() == HOST_NAME);
        ByteBuf name = vector16(list);
        require(!list.isReadable() && name.isReadable() && name.readableBytes() <= MAX_NAME);
        for (int i = name.readerIndex(); i < name.writerIndex(); i++) {
            require(isOfName(name.getByte(i)));
        }
        String text = name.toString(StandardCharsets.US_ASCII).toLowerCase(Locale.ROOT);
        require(!text.startsWith(".") && !text.contains(".."));
        return text.endsWith(".") ? text.substring(0, text.length() - 1) : text;
    }

    private static boolean isOfName(byte c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-'
                || c == '.' || c == '_';
    }

    private static ByteBuf vector8(ByteBuf in) {
        return part(in, part(in, 1).readUnsignedByte());
    }

    private static ByteBuf vector16(ByteBuf in) {
        return part(in, part(in, 2).readUnsignedShort());
    }

    private static ByteBuf part(ByteBuf in, int bytes) {
        require(in.readableBytes() >= bytes);
        return in.readSlice(bytes);
    }

    private static void require(boolean valid) {
        if (!valid) {
            throw new EdgeException(malformed());
        }
    }

    static Problem malformed() {
        return Problem.of(Cause.BAD_REQUEST, Hop.EDGE, "the received bytes are not a TLS ClientHello");
    }
}
