package dev.culvert.appproxy.commits.git;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.handlers.spi.HandlerException.Reason;
import org.eclipse.jgit.errors.TransportException;
import org.junit.jupiter.api.Test;

class GitFailureTest {
    @Test
    void aRepositoryWith403InItsNameIsNotOneThatIsRefused() {
        var away = new TransportException("https://git.test/acme/app403.git: cannot open git-upload-pack");
        var refused = new TransportException("https://git.test/acme/app.git: 403 Forbidden");

        assertThat(GitFailure.of(away, "acme/app403").reason()).isEqualTo(Reason.UNAVAILABLE);
        assertThat(GitFailure.of(refused, "acme/app").reason()).isEqualTo(Reason.FORBIDDEN);
    }

    @Test
    void aBlockedPushHasNotLostARace() {
        assertThat(GitFailure.ofLock("cannot lock ref 'refs/heads/main'")).isTrue();
        assertThat(GitFailure.ofLock("failed to lock")).isTrue();
        assertThat(GitFailure.ofLock("Unable to create '/x/main.lock': File exists")).isTrue();
        assertThat(GitFailure.ofLock("push blocked by policy; the branch is locked")).isFalse();
        assertThat(GitFailure.ofLock(null)).isFalse();
    }
}
