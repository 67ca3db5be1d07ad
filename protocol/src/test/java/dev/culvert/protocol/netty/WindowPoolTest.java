package dev.culvert.protocol.netty;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.protocol.session.WindowAccount;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

final class WindowPoolTest {
    private final AtomicBoolean pressed = new AtomicBoolean();
    private final WindowPool pool = new WindowPool(1000, pressed::get);
    private final WindowAccount account = pool.account();

    @Test
    void aStreamHasAtMostHalfOfWhatIsFree() {
        assertThat(account.borrow(0, 334)).isFalse();
        assertThat(account.borrow(0, 333)).isTrue();
        assertThat(account.borrow(333, 1)).isFalse();
        assertThat(pool.lent()).isEqualTo(333);
    }

    /** Whatever its number of streams and sessions. */
    @Test
    void anAccountHasAtMostAsMuchAsIsFree() {
        int borrowed = 0;
        for (int stream = 0; stream < 100; stream++) {
            borrowed += account.borrow(0, 10) ? 10 : 0;
        }

        assertThat(borrowed).isEqualTo(500);
        assertThat(pool.account().borrow(0, 100)).as("another account").isTrue();
    }

    @Test
    void whatIsLentIsWantedBackWhenOthersNeedItOrMemoryIsShort() {
        assertThat(account.borrow(0, 330)).isTrue();
        assertThat(account.wantsBack(330)).isFalse();
        for (int other = 0; other < 100; other++) {
            pool.account().borrow(0, 10);
        }

        assertThat(pool.lent()).isEqualTo(980);
        assertThat(account.wantsBack(330)).isTrue();
        assertThat(account.wantsBack(1)).as("a small stream of an account with much").isTrue();
        assertThat(pool.account().wantsBack(1)).isFalse();
        account.giveBack(330);
        assertThat(pool.lent()).isEqualTo(650);
        pressed.set(true);
        assertThat(account.wantsBack(1)).isTrue();
        assertThat(account.wantsBack(0)).isFalse();
        assertThat(account.borrow(0, 1)).isFalse();
    }
}
