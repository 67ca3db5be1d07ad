package dev.culvert.inbox.model;

import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.util.AsciiString;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Encodes header fields as bytes, in their order and as they were sent: for each a length and a name, a
 * length and a value.
 */
public final class StoredFields {
    private static final int LENGTHS = 2 + 4;

    private StoredFields() {}

    public static byte[] encode(Http2Headers fields) {
        List<byte[]> parts = new ArrayList<>(2 * fields.size());
        int size = 0;
        for (Map.Entry<CharSequence, CharSequence> field : fields) {
            byte[] name = bytes(field.getKey());
            byte[] value = bytes(field.getValue());
            parts.add(name);
            parts.add(value);
            size += LENGTHS + name.length + value.length;
        }
        ByteBuffer to = ByteBuffer.allocate(size);
        for (int i = 0; i < parts.size(); i += 2) {
            byte[] name = parts.get(i);
            byte[] value = parts.get(i + 1);
            to.putShort((short) name.length).put(name).putInt(value.length).put(value);
        }
        return to.array();
    }

    public static Http2Headers decode(byte[] stored) {
        ByteBuffer from = ByteBuffer.wrap(stored);
        Http2Headers fields = new DefaultHttp2Headers(false);
        while (from.hasRemaining()) {
            AsciiString name = next(from, Short.toUnsignedInt(from.getShort()));
            fields.add(name, next(from, from.getInt()));
        }
        return fields;
    }

    private static AsciiString next(ByteBuffer from, int length) {
        byte[] text = new byte[length];
        from.get(text);
        return new AsciiString(text, false);
    }

    private static byte[] bytes(CharSequence text) {
        return text instanceof AsciiString ascii
                ? ascii.toByteArray()
                : text.toString().getBytes(StandardCharsets.ISO_8859_1);
    }
}
