package dev.culvert.protocol.netty;

import dev.culvert.protocol.frame.Hello;
import dev.culvert.protocol.session.SessionEvent;

/** What happens to a session, told on its event loop. */
public interface SessionListener {
    /** Server: the client said who it is; answer with {@link TunnelChannelHandler#ready} or {@code close}. */
    default void peerHello(Hello hello) {}

    /** Client: the server wants a proof before it is ready; answer with {@link TunnelChannelHandler#auth}. */
    default void proofWanted(Hello server) {}

    /**
     * Server: the client proves a certificate; before {@link #live} answer as {@link #peerHello}, after it with {@link
     * TunnelChannelHandler#answerAuth}.
     */
    default void auth(SessionEvent.Auth auth) {}

    /** Client: what the server thinks of {@link TunnelChannelHandler#auth}. */
    default void authAnswered(SessionEvent.AuthAnswer answer) {}

    /** Server: what the client announces from now on. */
    default void announced(SessionEvent.Announced announced) {}

    /** The session is live. */
    void live(SessionEvent.Live live);

    /** Client: the server opened a stream. Returns who is told what happens to it. */
    default StreamListener opened(TunnelStream stream, SessionEvent.Opened opened) {
        throw new IllegalStateException("this side opens the streams");
    }

    /** The peer goes away; streams in flight go on. */
    void goingAway(SessionEvent.GoingAway goingAway);

    /** The session is over; its streams were reset before. Told exactly once. */
    void closed(SessionEvent.Closed closed);
}
