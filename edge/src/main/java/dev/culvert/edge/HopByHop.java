package dev.culvert.edge;

import io.netty.handler.codec.http2.Http2Headers;
import io.netty.util.AsciiString;
import java.util.List;

/** Removes the fields that are meant for the next hop only (RFC 9110 §7.6.1). */
final class HopByHop {
    private static final AsciiString CONNECTION = AsciiString.cached("connection");
    private static final AsciiString UPGRADE = AsciiString.cached("upgrade");
    private static final AsciiString TE = AsciiString.cached("te");
    private static final AsciiString TRAILERS = AsciiString.cached("trailers");
    private static final AsciiString[] ALWAYS = {AsciiString.cached("keep-alive"),
            AsciiString.cached("proxy-connection"), AsciiString.cached("transfer-encoding"),
            AsciiString.cached("proxy-authenticate"), AsciiString.cached("proxy-authorization"),
            AsciiString.cached("http2-settings")};

    private HopByHop() {}

    static void remove(Http2Headers fields, boolean keepUpgrade) {
        if (fields.contains(CONNECTION)) {
            for (CharSequence value : fields.getAllAndRemove(CONNECTION)) {
                removeListed(fields, value.toString());
            }
        }
        for (AsciiString name : ALWAYS) {
            fields.remove(name);
        }
        if (!keepUpgrade) {
            fields.remove(UPGRADE);
        }
        reduceTe(fields);
    }

    /** What {@code Connection} lists goes too, but for what frames the message or is decided elsewhere. */
    private static void removeListed(Http2Headers fields, String value) {
        for (String option : value.split(",", -1)) {
            AsciiString name = new AsciiString(option.trim()).toLowerCase();
            boolean kept = name.isEmpty() || name.charAt(0) == ':' || name.contentEquals("content-length")
                    || name.contentEquals("host") || name.contentEquals(UPGRADE) || name.contentEquals(TE);
            if (!kept) {
                fields.remove(name);
            }
        }
    }

    /** RFC 9113 §8.2.2: {@code trailers} is the only value that may cross. */
    private static void reduceTe(Http2Headers fields) {
        if (!fields.contains(TE)) {
            return;
        }
        List<CharSequence> values = fields.getAllAndRemove(TE);
        for (CharSequence value : values) {
            for (String coding : value.toString().split(",", -1)) {
                if (coding.trim().equalsIgnoreCase("trailers")) {
                    fields.set(TE, TRAILERS);
                    return;
                }
            }
        }
    }
}
