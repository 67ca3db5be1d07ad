package dev.culvert.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.net.ConnectException;
import java.net.UnknownHostException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.UnresolvedAddressException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;

class ReasonTest {
    @Test
    void theSystemsOwnWordsAreKept() {
        assertThat(Reason.of(new BindException("Address already in use")))
                .isEqualTo("Address already in use");
        assertThat(Reason.of(new IOException("bind(..) failed with error(-98): Address already in use")))
                .isEqualTo("Address already in use");
        assertThat(Reason.of(new IOException("finishConnect(..) failed: Connection refused: /127.0.0.1:1")))
                .isEqualTo("the connection was refused");
    }

    @Test
    void namesOfClassesAreLeftOut() {
        assertThat(Reason.of(new CompletionException(new ConnectException("Connection refused"))))
                .isEqualTo("the connection was refused");
        assertThat(Reason.of(new UncheckedIOException(new IOException("disk full")))).isEqualTo("disk full");
        assertThat(Reason.of(new IllegalStateException(new ClosedChannelException())))
                .isEqualTo("it failed without a reason");
    }

    @Test
    void failuresWithoutWordsGetSome() {
        assertThat(Reason.of(new UnknownHostException("nobody.test")))
                .isEqualTo("the name can't be resolved");
        var unresolved = new ConnectException();
        unresolved.initCause(new UnresolvedAddressException());
        assertThat(Reason.of(unresolved)).isEqualTo("the name can't be resolved");
        var refused = new ConnectException();
        refused.initCause(new ClosedChannelException());
        assertThat(Reason.of(refused)).isEqualTo("the connection was refused");
        assertThat(Reason.of(new TimeoutException("Did not observe any item within 90000ms")))
                .isEqualTo("no answer in time");
        assertThat(Reason.of(new NoSuchFileException("/a"))).isEqualTo("no such file or folder");
        assertThat(Reason.of(new AccessDeniedException("/a"))).isEqualTo("no permission");
        assertThat(Reason.of(new FileSystemException("/a", null, "Not a directory")))
                .isEqualTo("Not a directory");
        assertThat(Reason.of(new FileSystemException("/a"))).isEqualTo("it failed without a reason");
    }
}
