package dev.culvert.protocol.session;

import io.netty.util.AsciiString;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The slots of heads, and the instructions of their encoding (docs/protocol.md §5.1). */
final class HeadSlots {
    static final int COUNT = 128;
    /** An instruction with this bit stands for the field in a slot. */
    static final int KEPT = 0x80;
    /** Slot, value: a field with the slot's name. */
    static final int VALUE = 0x00;
    /** Slot, value: the same, and the slot keeps the value. */
    static final int KEEP_VALUE = 0x01;
    /** Name, value: a field. */
    static final int FIELD = 0x02;
    /** Slot, name, value: a field, which the slot keeps. */
    static final int KEEP_FIELD = 0x03;
    /** Slot: it keeps no value any more. */
    static final int FORGET = 0x04;
    /** The size of a field in addition to its name and value, as in RFC 7541 §4.1. */
    static final int FIELD_OVERHEAD = 32;

    /** The names of the first slots. Never changes: a change is another capability. */
    private static final List<AsciiString> NAMES = List.of(":method", ":scheme", ":authority", ":path",
            ":status",
            ":protocol", "accept", "accept-encoding", "accept-language", "accept-ranges",
            "access-control-allow-credentials", "access-control-allow-headers",
            "access-control-allow-methods",
            "access-control-allow-origin", "access-control-expose-headers", "age", "allow", "authorization",
            "cache-control", "content-disposition", "content-encoding", "content-language", "content-length",
            "content-range", "content-security-policy", "content-type", "cookie", "date", "etag", "expect",
            "expires", "forwarded", "grpc-accept-encoding", "grpc-encoding", "grpc-message", "grpc-status",
            "grpc-timeout", "if-match", "if-modified-since", "if-none-match", "if-range", "last-modified",
            "link",
            "location", "origin", "pragma", "priority", "range", "referer", "referrer-policy", "retry-after",
            "sec-fetch-dest", "sec-fetch-mode", "sec-fetch-site", "sec-websocket-accept",
            "sec-websocket-extensions", "sec-websocket-key", "sec-websocket-protocol",
            "sec-websocket-version",
            "server", "server-timing", "set-cookie", "strict-transport-security", "te", "traceparent",
            "tracestate", "upgrade-insecure-requests", "user-agent", "vary", "via", "www-authenticate",
            "x-content-type-options", "x-forwarded-for", "x-forwarded-host", "x-forwarded-port",
            "x-forwarded-proto", "x-frame-options", "x-request-id")
            .stream()
            .map(AsciiString::cached)
            .toList();
    private static final Map<AsciiString, Integer> NUMBERS = numbers();

    private HeadSlots() {}

    private static Map<AsciiString, Integer> numbers() {
        Map<AsciiString, Integer> numbers = new HashMap<>();
        for (int i = 0; i < NAMES.size(); i++) {
            numbers.put(NAMES.get(i), i);
        }
        return Map.copyOf(numbers);
    }

    /** The number of slots whose names are fixed. */
    static int fixed() {
        return NAMES.size();
    }

    /** The name of a slot with a fixed name. */
    static AsciiString name(int slot) {
        return NAMES.get(slot);
    }

    /** The slots by fixed name. */
    static Map<AsciiString, Integer> byName() {
        return NUMBERS;
    }

    static int cost(AsciiString name, AsciiString value) {
        return name.length() + value.length() + FIELD_OVERHEAD;
    }
}
