package dev.culvert.launcher.command;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class RuntimeFactsTest {
    @Test
    void theLastCacheBeforeTheMainClassIsTheOneThatIsNamed() {
        assertThat(RuntimeFacts.named(new String[]{"java", "-XX:AOTCache=/a", "-XX:AOTCache=/b c", "-cp", "x",
                "dev.culvert.launcher.Main", "-XX:AOTCache=/d"})).isEqualTo("/b c");
        assertThat(RuntimeFacts.named(new String[]{"java", "-cp", "x"})).isNull();
    }

    @Test
    void aNamedCacheIsInUseOnlyWhenTheJvmShares() {
        assertThat(RuntimeFacts.cache(null, "mixed mode, sharing")).startsWith("no AOT cache");
        assertThat(RuntimeFacts.cache("/a", "mixed mode, sharing")).isEqualTo("AOT cache in use: /a");
        assertThat(RuntimeFacts.cache("/a", "mixed mode")).startsWith("AOT cache not usable: /a");
    }
}
