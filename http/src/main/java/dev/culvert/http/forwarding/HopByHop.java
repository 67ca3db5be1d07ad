package dev.culvert.http.forwarding;

import dev.culvert.http.fields.FieldList;
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

    /**
     * Removes the fields. Returns false if {@code Connection} lists more names than are read, so some of the
     * listed fields remain.
     */
    static boolean remove(Http2Headers fields, boolean keepUpgrade) {
        boolean all = true;
        if (fields.contains(CONNECTION)) {
            int options = 0;
            for (CharSequence value : fields.getAllAndRemove(CONNECTION)) {
                var list = new FieldList(value);
                while (options <= FieldList.MAX_MEMBERS && list.next()) {
                    options++;
                    removeListed(fields, AsciiString.of(list.member()).toLowerCase());
                }
                all &= !list.isCut() && options <= FieldList.MAX_MEMBERS;
            }
        }
        for (AsciiString name : ALWAYS) {
            fields.remove(name);
        }
        if (!keepUpgrade) {
            fields.remove(UPGRADE);
        }
        reduceTe(fields);
        return all;
    }

    /**
     * Removes a field that {@code Connection} lists, except fields that frame the message or are handled
     * elsewhere.
     */
    private static void removeListed(Http2Headers fields, AsciiString name) {
        boolean kept = name.charAt(0) == ':' || name.contentEquals("content-length")
                || name.contentEquals("host") || name.contentEquals(UPGRADE) || name.contentEquals(TE);
        if (!kept) {
            fields.remove(name);
        }
    }

    /** Keeps only {@code trailers}, the only value that may be forwarded (RFC 9113 §8.2.2). */
    private static void reduceTe(Http2Headers fields) {
        if (!fields.contains(TE)) {
            return;
        }
        List<CharSequence> values = fields.getAllAndRemove(TE);
        for (CharSequence value : values) {
            for (var codings = new FieldList(value); codings.next();) {
                if (codings.is(TRAILERS)) {
                    fields.set(TE, TRAILERS);
                    return;
                }
            }
        }
    }
}
