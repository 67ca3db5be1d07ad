package dev.culvert.protocol.netty;

import dev.culvert.protocol.frame.Hello;
import dev.culvert.protocol.session.SessionEvent;

/** Receives the events of a session, on its event loop. */
public interface SessionListener {
    /**
     * Server: the client's hello was received; answer with {@link TunnelChannelHandler#ready} or {@code
     * close}.
     */
    default void peerHello(Hello hello) {}

    /**
     * Client: the server requires a proof before it is ready; answer with {@link TunnelChannelHandler#auth}.
     */
    default void proofWanted(Hello server) {}

    /**
     * Server: the client proves a certificate; before {@link #live} answer as {@link #peerHello}, after it
     * with {@link TunnelChannelHandler#answerAuth}.
     */
    default void auth(SessionEvent.Auth auth) {}

    /** Client: the server's result for {@link TunnelChannelHandler#auth}. */
    default void authAnswered(SessionEvent.AuthAnswer answer) {}

    /** Client: another instance owns the runtime; {@link #live} follows when the server promotes this one. */
    default void waiting(SessionEvent.Waiting waiting) {}

    /** Server: the client stops soon; another instance may take over before. */
    default void leaving() {}

    /** Server: the client's announced document, valid from now on. */
    default void announced(SessionEvent.Announced announced) {}

    /** The session is live. */
    void live(SessionEvent.Live live);

    /** Client: the server opened a stream. Returns the listener of the stream. */
    default StreamListener opened(TunnelStream stream, SessionEvent.Opened opened) {
        throw new IllegalStateException("this side opens the streams");
    }

    /** The peer goes away; streams in progress continue. */
    void goingAway(SessionEvent.GoingAway goingAway);

    /** The session has ended; its streams were reset before. Called exactly once. */
    void closed(SessionEvent.Closed closed);
}
