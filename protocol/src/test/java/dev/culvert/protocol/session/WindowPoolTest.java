package dev.culvert.protocol.session;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

final class WindowPoolTest {
    private final AtomicBoolean pressed = new AtomicBoolean();
    private final WindowPool pool = new WindowPool(1000, pressed::get);

    @Test
    void aStreamHasAtMostHalfOfWhatIsFree() {
        assertThat(pool.borrow(0, 0, 334)).isFalse();
        assertThat(pool.borrow(0, 0, 333)).isTrue();
        assertThat(pool.borrow(333, 333, 1)).isFalse();
        assertThat(pool.lent()).isEqualTo(333);
    }

    @Test
    void aSessionHasAtMostAsMuchAsIsFree() {
        int borrowed = 0;
        for (int stream = 0; stream < 100; stream++) {
            borrowed += pool.borrow(0, borrowed, 10) ? 10 : 0;
        }

        assertThat(borrowed).isEqualTo(500);
        assertThat(pool.borrow(0, 0, 100)).as("another session").isTrue();
    }

    @Test
    void whatIsLentIsWantedBackWhenOthersNeedItOrMemoryIsShort() {
        assertThat(pool.borrow(0, 0, 330)).isTrue();
        assertThat(pool.wantsBack(330)).isFalse();
        for (int session = 0; session < 100; session++) {
            pool.borrow(0, 0, 10);
        }

        assertThat(pool.lent()).isEqualTo(980);
        assertThat(pool.wantsBack(330)).isTrue();
        pool.giveBack(pool.lent() - 330);
        assertThat(pool.wantsBack(330)).isFalse();
        pressed.set(true);
        assertThat(pool.wantsBack(1)).isTrue();
        assertThat(pool.wantsBack(0)).isFalse();
        assertThat(pool.borrow(0, 0, 1)).isFalse();
    }
}
