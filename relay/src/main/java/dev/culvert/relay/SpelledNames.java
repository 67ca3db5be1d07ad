package dev.culvert.relay;

import dev.culvert.http.fields.CanonicalName;
import dev.culvert.http.fields.FieldLines;
import dev.culvert.protocol.fields.HeadFields;
import dev.culvert.protocol.fields.Spellings;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.util.AsciiString;
import java.util.Iterator;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * How HTTP/1.1 writes the field names of heads: as they came over HTTP/1.1, else in canonical spelling. In
 * heads themselves all names are in lower case.
 */
public final class SpelledNames {
    private SpelledNames() {}

    /** Appends the name of a head's field. */
    public static void write(Http2Headers head, CharSequence name, ByteBuf out) {
        AsciiString lower = AsciiString.of(name);
        AsciiString written = written(head, lower);
        if (written == null) {
            CanonicalName.write(lower, out);
        } else {
            out.writeBytes(written.array(), written.arrayOffset(), written.length());
        }
    }

    /** Returns the name of a head's field as HTTP/1.1 writes it. */
    public static AsciiString of(Http2Headers head, CharSequence name) {
        AsciiString lower = AsciiString.of(name);
        AsciiString written = written(head, lower);
        return written == null ? CanonicalName.of(lower) : written;
    }

    private static @Nullable AsciiString written(Http2Headers head, AsciiString name) {
        Spellings spellings = head instanceof HeadFields own ? own.spellings() : null;
        return spellings == null ? null : spellings.of(name);
    }

    /** Adds all fields of a decoded head or trailer section. */
    public static void add(HttpHeaders received, HeadFields to) {
        boolean lowerCase = !received.isEmpty();
        for (Iterator<Map.Entry<CharSequence, CharSequence>> all = received.iteratorCharSequence(); all
                .hasNext();) {
            Map.Entry<CharSequence, CharSequence> field = all.next();
            AsciiString written = AsciiString.of(field.getKey());
            AsciiString name = written.toLowerCase();
            lowerCase &= written.equals(name);
            AsciiString unusual = CanonicalName.unless(written, name);
            if (unusual != null && !to.contains(name)) {
                to.spell(unusual);
            }
            to.add(name, field.getValue());
        }
        if (lowerCase) {
            to.spellLower();
        }
    }

    /** Adds the lines of a head, but those of {@code Host} and of one hop. */
    public static void add(FieldLines lines, HeadFields to) {
        lines.addTo(to);
        if (lines.isLowerCase()) {
            to.spellLower();
        } else if (lines.isUnusuallySpelled()) {
            lines.spellings(to::spell);
        }
    }
}
