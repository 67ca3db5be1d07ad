package dev.culvert.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.admin.AdminHandler;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.server.admin.AdminApi;
import dev.culvert.store.DatabaseProblem;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.sqlite.SQLiteErrorCode;
import org.sqlite.SQLiteException;

/** What operators read when the store did not do what they asked. */
class AdminRefusalTest {
    @Test
    void operatorsReadThatTheDiskIsFull() {
        Throwable told = AdminHandler.refusal(DatabaseProblem.of(Path.of("culvert.db"),
                new SQLiteException("full", SQLiteErrorCode.SQLITE_FULL)));

        assertThat(told).isInstanceOfSatisfying(HandlerException.class, refused -> {
            assertThat(refused.reason()).isEqualTo(HandlerException.Reason.OVERLOADED);
            assertThat(refused).hasMessageContaining("the disk is full");
        });
    }

    @Test
    void otherFailuresStayWhatTheyAre() {
        var failed = DatabaseProblem.of(Path.of("culvert.db"), new IOException("broken"));

        assertThat(AdminHandler.refusal(failed)).isSameAs(failed);
    }
}
