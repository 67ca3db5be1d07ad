package dev.culvert.http.forwarding;

import dev.culvert.config.IpText;
import dev.culvert.http.fields.FieldList;
import dev.culvert.http.fields.RequestId;
import dev.culvert.http.net.Cidr;
import dev.culvert.http.problem.Problem;
import dev.culvert.http.quota.SourceAddress;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.util.AsciiString;
import io.netty.util.NetUtil;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Rewrites the heads that a gateway forwards. Removes hop-by-hop fields (RFC 9110 §7.6.1), adds the request's
 * origin ({@code X-Forwarded-*}, {@code Forwarded} of RFC 7239, {@code Via}), and keeps or creates ids.
 * Origin fields of a caller are kept only if it is a trusted proxy. Stateless; safe for use by any thread.
 */
public final class ForwardingRules {
    private static final AsciiString FORWARDED_FOR = AsciiString.cached("x-forwarded-for");
    private static final AsciiString FORWARDED_PROTO = AsciiString.cached("x-forwarded-proto");
    private static final AsciiString FORWARDED_HOST = AsciiString.cached("x-forwarded-host");
    private static final AsciiString FORWARDED_PORT = AsciiString.cached("x-forwarded-port");
    private static final AsciiString FORWARDED = AsciiString.cached("forwarded");
    private static final AsciiString VIA = AsciiString.cached("via");
    private static final AsciiString REQUEST_ID = AsciiString.cached("x-request-id");
    private static final AsciiString TRACEPARENT = AsciiString.cached("traceparent");
    private static final AsciiString TRACESTATE = AsciiString.cached("tracestate");

    /**
     * The maximum length of a hop in {@code X-Forwarded-For}. An IPv6 address with scope, port and
     * surrounding white space is shorter.
     */
    private static final int MAX_HOP_CHARS = 128;

    private final String pseudonym;
    private final List<Cidr> trustedProxies;

    /**
     * Creates the rules of one gateway.
     *
     * @param pseudonym the gateway's name in {@code Via}, a token (RFC 9110 §5.6.2) that no other gateway has
     * @param trustedProxies peers whose {@code X-Forwarded-*} and {@code Forwarded} are believed; usually
     *     none
     */
    public ForwardingRules(String pseudonym, List<Cidr> trustedProxies) {
        if (!pseudonym.matches("[A-Za-z0-9._-]{1,64}")) {
            throw new IllegalArgumentException(
                    "pseudonym: " + pseudonym + " (expected: 1..64 letters, digits, dots, hyphens)");
        }
        this.pseudonym = pseudonym;
        this.trustedProxies = List.copyOf(trustedProxies);
    }

    /** Creates a unique pseudonym: {@code culvert-} and twelve random hexadecimal digits. */
    public static String newPseudonym() {
        return "culvert-" + RequestId.create().subSequence(0, 12);
    }

    /**
     * Creates the state that all requests of one connection share. Called once per connection.
     *
     * @param remote the peer of the connection
     * @param scheme {@code http} or {@code https}
     * @param localPort the local port of the connection, 1..65535
     * @param httpVersion as {@code Via} writes it: {@code 1.1} or {@code 2.0}
     */
    public Peer peer(InetSocketAddress remote, String scheme, int localPort, String httpVersion) {
        InetAddress address = remote.getAddress();
        boolean trusted = address != null && trusts(address);
        return new Peer(address, literal(address), new AsciiString(scheme),
                new AsciiString(Integer.toString(localPort)),
                new AsciiString(httpVersion + " " + pseudonym), trusted);
    }

    /**
     * Prepares a request head for forwarding. Changes {@code fields} in place.
     *
     * @param fields lower-case names, pseudo-fields first
     * @param peer the connection on which the request arrived
     * @param host the host that the caller asked for, with its port if it named one
     * @param upgrade whether the {@code upgrade} field stays, because the request is forwarded as an upgrade
     * @return null, or the reason to refuse the request: {@code loop-detected} if the request has passed this
     *     gateway before or its {@code Via} is longer than a legitimate one, {@code bad-request} if its
     *     {@code Connection} is longer than a legitimate one
     */
    public @Nullable Problem request(Http2Headers fields, Peer peer, CharSequence host, boolean upgrade) {
        Problem looped = looped(fields);
        if (looped != null) {
            return looped;
        }
        if (!HopByHop.remove(fields, upgrade)) {
            return Problem.of(Problem.Cause.BAD_REQUEST, Problem.Hop.EDGE,
                    "Connection names too many fields");
        }
        origin(fields, peer, host);
        fields.add(VIA, peer.via);
        requestId(fields);
        traceparent(fields);
        return null;
    }

    /**
     * Finds the origin of a request: the last hop that is not a trusted proxy, or the first hop if all are
     * trusted. Reads {@code X-Forwarded-For}, so trusted proxies must set it.
     *
     * @param fields as {@link #request} left them
     * @return null if a trusted proxy gives a value that is not an address
     */
    public @Nullable InetAddress caller(Http2Headers fields, Peer peer) {
        return origin(peer, fields.getAll(FORWARDED_FOR), false);
    }

    /**
     * The account of a request.
     *
     * @param caller its {@link #caller(Http2Headers, Peer)}
     */
    public static SourceAddress account(@Nullable InetAddress caller, Peer peer) {
        return peer.trusted ? SourceAddress.of(caller) : peer.account;
    }

    /**
     * Finds the origin of a request that another gateway has forwarded. The {@code X-Forwarded-For} of that
     * gateway ends with its own peer. The origin is the last hop that is not a trusted proxy, or the first
     * hop if all are trusted.
     *
     * @return null if the field is absent or a trusted proxy gives a value that is not an address
     */
    public @Nullable InetAddress caller(Http2Headers fields) {
        List<CharSequence> hops = fields.getAll(FORWARDED_FOR);
        return hops.isEmpty() ? null : walkBack(null, hops, false);
    }

    /**
     * Returns the origin of a request as {@link #caller(Http2Headers, Peer)} does, as text for people. If a
     * trusted proxy gives no address, the origin is that proxy.
     *
     * @param forwardedFor the field's values as received, in order
     * @return a literal; {@code unknown} without an address
     */
    public String caller(Peer peer, List<? extends CharSequence> forwardedFor) {
        return peer.trusted ? literal(origin(peer, forwardedFor, true)) : peer.address;
    }

    /**
     * Returns the origin of a request as {@link #caller(Http2Headers, Peer)} does. If a trusted proxy gives
     * no address, the origin is that proxy.
     *
     * @param peer the address of the connection's peer; null is not trusted
     * @param forwardedFor the field's values as received, in order
     */
    public @Nullable InetAddress source(@Nullable InetAddress peer,
            List<? extends CharSequence> forwardedFor) {
        return peer != null && !forwardedFor.isEmpty() && trusts(peer)
                ? walkBack(peer, forwardedFor, true)
                : peer;
    }

    /**
     * Follows the hops of trusted proxies backwards. At an unreadable hop returns the last readable one if
     * {@code lastKnown}, else null.
     */
    private @Nullable InetAddress origin(Peer peer, List<? extends CharSequence> forwardedFor,
            boolean lastKnown) {
        InetAddress known = peer.from;
        return peer.trusted && !forwardedFor.isEmpty() ? walkBack(known, forwardedFor, lastKnown) : known;
    }

    private @Nullable InetAddress walkBack(@Nullable InetAddress nearest,
            List<? extends CharSequence> forwardedFor,
            boolean lastKnown) {
        InetAddress known = nearest;
        int hops = 0;
        for (CharSequence value : forwardedFor.reversed()) {
            int end = value.length();
            for (int comma = end; comma >= 0; end = comma) {
                comma = lastComma(value, end);
                boolean readable = ++hops <= FieldList.MAX_MEMBERS && end - comma <= MAX_HOP_CHARS;
                InetAddress hop = readable
                        ? address(value.subSequence(comma + 1, end).toString().trim())
                        : null;
                if (hop == null) {
                    return lastKnown ? known : null;
                }
                known = hop;
                if (!trusts(hop)) {
                    return known;
                }
            }
        }
        return known;
    }

    /**
     * Returns the index of the comma before the hop that ends at {@code end}, or -1. Looks back {@link
     * #MAX_HOP_CHARS} characters.
     */
    private static int lastComma(CharSequence value, int end) {
        int at = end - 1;
        while (at >= 0 && end - at <= MAX_HOP_CHARS && value.charAt(at) != ',') {
            at--;
        }
        return at;
    }

    /**
     * Parses an address without DNS. Some proxies append the port: {@code 192.0.2.1:4711}, {@code
     * [2001:db8::1]:4711}.
     */
    private static @Nullable InetAddress address(String hop) {
        int end = hop.startsWith("[") ? hop.indexOf(']') : hop.indexOf(':');
        boolean bracketed = hop.startsWith("[") && end > 0;
        boolean port = !bracketed && end > 0 && hop.indexOf(':', end + 1) < 0;
        String text = bracketed ? hop.substring(1, end) : port ? hop.substring(0, end) : hop;
        byte[] bytes = NetUtil.createByteArrayFromIpAddressString(text);
        return bytes == null ? null : address(bytes);
    }

    /**
     * Removes hop-by-hop fields from a response head. Changes {@code fields} in place.
     *
     * @param upgrade whether this is the 101 to a forwarded upgrade: {@code upgrade} stays
     */
    public static void response(Http2Headers fields, boolean upgrade) {
        HopByHop.remove(fields, upgrade);
    }

    /**
     * Returns the request's id: the caller's if it is valid (1..128 characters of visible ASCII), else a new
     * one, which is set in {@code fields}.
     */
    public static CharSequence requestId(Http2Headers fields) {
        CharSequence id = single(fields, REQUEST_ID);
        if (id != null && RequestId.valid(id)) {
            return id;
        }
        AsciiString created = RequestId.create();
        fields.set(REQUEST_ID, created);
        return created;
    }

    private static InetAddress address(byte[] bytes) {
        try {
            return InetAddress.getByAddress(bytes);
        } catch (UnknownHostException e) {
            throw new IllegalStateException("4 and 16 bytes are addresses", e);
        }
    }

    private boolean trusts(InetAddress address) {
        return Cidr.anyContains(trustedProxies, address);
    }

    private static void traceparent(Http2Headers fields) {
        CharSequence value = single(fields, TRACEPARENT);
        if (value == null || !RequestId.validTraceparent(value)) {
            fields.set(TRACEPARENT, RequestId.createTraceparent());
            fields.remove(TRACESTATE); // W3C Trace Context §3.3: invalid without its traceparent
        }
    }

    /** Appends to the origin fields of a trusted proxy. Replaces those of any other caller. */
    private static void origin(Http2Headers fields, Peer peer, CharSequence host) {
        HostValues values = peer.hostValues(host);
        if (!peer.trusted) {
            fields.set(FORWARDED_FOR, peer.addressValue);
            fields.set(FORWARDED_PROTO, peer.scheme);
            fields.set(FORWARDED_HOST, values.host);
            fields.set(FORWARDED_PORT, peer.port);
            fields.set(FORWARDED, values.element);
            return;
        }
        append(fields, FORWARDED_FOR, peer.addressValue);
        if (!ForwardedField.areElements(fields.getAll(FORWARDED))) {
            fields.remove(FORWARDED); // an unterminated quoted string would swallow the appended element
        }
        append(fields, FORWARDED, values.element);
        setIfAbsent(fields, FORWARDED_PROTO, peer.scheme);
        setIfAbsent(fields, FORWARDED_HOST, values.host);
        setIfAbsent(fields, FORWARDED_PORT, peer.port);
    }

    /** RFC 7239 §4: IPv6 addresses and hosts with a port are not tokens and must be quoted. */
    private static AsciiString element(Peer peer, CharSequence host) {
        var text = new StringBuilder(96).append("for=");
        if (peer.from instanceof Inet6Address) {
            text.append("\"[").append(peer.address).append("]\"");
        } else {
            text.append(peer.address);
        }
        if (quotable(host)) {
            text.append(";host=\"").append(host).append('"');
        }
        return new AsciiString(text.append(";proto=").append(peer.scheme));
    }

    private static boolean quotable(CharSequence host) {
        for (int i = 0; i < host.length(); i++) {
            char c = host.charAt(i);
            if (c <= ' ' || c > '~' || c == '"' || c == '\\') {
                return false;
            }
        }
        return !host.isEmpty();
    }

    private static void append(Http2Headers fields, AsciiString name, AsciiString element) {
        List<CharSequence> earlier = fields.getAll(name);
        fields.set(name, earlier.isEmpty() ? element : String.join(", ", earlier) + ", " + element);
    }

    private static void setIfAbsent(Http2Headers fields, AsciiString name, CharSequence value) {
        if (!fields.contains(name)) {
            fields.set(name, value);
        }
    }

    /**
     * Searches {@code Via} for this gateway. Returns null if it is absent; a list beyond the bounds counts as
     * a loop.
     */
    private @Nullable Problem looped(Http2Headers fields) {
        if (!fields.contains(VIA)) {
            return null;
        }
        int hops = 0;
        for (CharSequence value : fields.getAll(VIA)) {
            var list = new FieldList(value);
            while (list.next()) {
                hops++;
                if (isThis(value, list)) {
                    return Problem.of(Problem.Cause.LOOP_DETECTED, Problem.Hop.EDGE,
                            "the request has passed this gateway before");
                }
            }
            if (list.isCut() || hops > FieldList.MAX_MEMBERS) {
                return Problem.of(Problem.Cause.LOOP_DETECTED, Problem.Hop.EDGE,
                        "the request has passed more gateways than Via may name");
            }
        }
        return null;
    }

    /** Whether the hop names this gateway (RFC 9110 §7.6.3: protocol, gateway, optional comment). */
    private boolean isThis(CharSequence via, FieldList hop) {
        int at = hop.from();
        while (at < hop.to() && !FieldList.isSpace(via.charAt(at))) {
            at++;
        }
        int from = FieldList.skipSpace(via, at, hop.to());
        int to = from;
        while (to < hop.to() && !FieldList.isSpace(via.charAt(to))) {
            to++;
        }
        return pseudonym.contentEquals(via.subSequence(from, to));
    }

    /** The field's value, or null if it is absent or occurs more than once. */
    private static @Nullable CharSequence single(Http2Headers fields, AsciiString name) {
        CharSequence first = fields.get(name);
        return first == null || fields.getAll(name).size() > 1 ? null : first;
    }

    /** The address without its scope; {@code unknown} if there is none (RFC 7239 §6). */
    private static String literal(@Nullable InetAddress address) {
        if (address == null) {
            return "unknown";
        }
        return IpText.of(address);
    }

    /** The origin fields of the requests for one host on a connection. */
    private record HostValues(AsciiString host, AsciiString element) {}

    /**
     * The peer of a connection, shared by all its requests. Created by {@link ForwardingRules#peer}. Keeps
     * the values that its requests have in common as {@code AsciiString}, whose hash is computed once. Only
     * the connection's event loop passes it to {@link ForwardingRules#request}.
     */
    public static final class Peer {
        private final @Nullable InetAddress from;
        private final String address;
        private final AsciiString addressValue;
        private final AsciiString scheme;
        private final AsciiString port;
        private final AsciiString via;
        private final boolean trusted;
        private final SourceAddress account;
        /** Those of the last request. Most connections ask for one host only. */
        private @Nullable HostValues hostValues;

        private Peer(@Nullable InetAddress from, String address, AsciiString scheme, AsciiString port,
                AsciiString via, boolean trusted) {
            this.from = from;
            this.address = address;
            this.addressValue = new AsciiString(address);
            this.scheme = scheme;
            this.port = port;
            this.via = via;
            this.trusted = trusted;
            this.account = SourceAddress.of(from);
        }

        private HostValues hostValues(CharSequence host) {
            HostValues last = hostValues;
            if (last == null || !AsciiString.contentEquals(last.host, host)) {
                last = new HostValues(AsciiString.of(host), element(this, host));
                hostValues = last;
            }
            return last;
        }

        /** The peer's address as a literal. */
        public String address() {
            return address;
        }

        /** The account of the connection; a trusted proxy's requests have their callers' instead. */
        public SourceAddress account() {
            return account;
        }

        /** Whether the peer's address is in one of these networks. */
        public boolean isIn(List<Cidr> networks) {
            InetAddress known = from;
            return known != null && Cidr.anyContains(networks, known);
        }

        /** Whether the peer is a trusted proxy, whose statements about earlier hops are kept. */
        public boolean trusted() {
            return trusted;
        }
    }
}
