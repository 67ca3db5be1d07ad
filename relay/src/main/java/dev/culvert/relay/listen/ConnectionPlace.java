package dev.culvert.relay.listen;

import dev.culvert.http.quota.SourceAddress;
import io.netty.channel.Channel;
import io.netty.util.AttributeKey;
import org.jspecify.annotations.Nullable;

/**
 * The place of one open connection at its listener. It is busy while it carries a request or a proven
 * session, and silent otherwise. A busy connection never gives way; among silent ones {@link
 * ConnectionPlaces} chooses. {@link #busy} and {@link #silent} are called on the connection's event loop.
 */
public final class ConnectionPlace {
    private static final AttributeKey<ConnectionPlace> KEY = AttributeKey.valueOf(ConnectionPlace.class,
            "place");

    final SourceAddress source;
    private final Channel channel;
    private final @Nullable ConnectionPlaces places;
    private volatile boolean busy;
    private volatile Worth worth = Worth.SILENT;
    private volatile long silentSince = System.nanoTime();

    /** What a connection has shown; the lower ones give way first. */
    enum Worth {
        /** Nothing, or half a ClientHello. */
        SILENT,
        /** A whole ClientHello. */
        GREETED,
        /** A request, or a proven session. */
        SERVED
    }

    /** @param places null: of no listener */
    ConnectionPlace(SourceAddress source, Channel channel, @Nullable ConnectionPlaces places) {
        this.source = source;
        this.channel = channel;
        this.places = places;
        channel.attr(KEY).set(this);
    }

    /** The place of a connection. One that no listener has admitted has a place of its own. */
    public static ConnectionPlace of(Channel channel) {
        ConnectionPlace place = channel.attr(KEY).get(); // null: no listener has admitted it
        return place == null ? new ConnectionPlace(SourceAddress.UNKNOWN, channel, null) : place;
    }

    /** The connection has sent a whole ClientHello. */
    void greeted() {
        worth = Worth.GREETED;
    }

    /** The connection carries a request, or a session whose peer has proven who it is. */
    public void busy() {
        busy = true;
    }

    /** A runtime has answered the connection's source, or its peer has proven who it is. */
    public void served() {
        if (places != null) {
            places.know(source);
        }
    }

    /** The connection carries nothing now. */
    public void silent() {
        silentSince = System.nanoTime();
        worth = Worth.SERVED;
        busy = false;
    }

    boolean isBusy() {
        return busy;
    }

    Worth worth() {
        return worth;
    }

    /** When it became silent, a {@link System#nanoTime} value. */
    long silentSince() {
        return silentSince;
    }

    Channel channel() {
        return channel;
    }
}
