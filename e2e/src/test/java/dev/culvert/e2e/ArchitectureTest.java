package dev.culvert.e2e;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.methods;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.AccessTarget;
import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaMethod;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import java.time.Clock;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;

/** The arrows between packages, and rules that hold in all of them. The benchmarks are not looked at. */
class ArchitectureTest {
    private static final JavaClasses CODE = new ClassFileImporter()
            .withImportOption(
                    file -> !file.contains("/dev/culvert/e2e/")
                            && !file.contains("/dev/culvert/edge/testing/"))
            .importPackages("dev.culvert");
    private static final String[] PURE = {"dev.culvert.protocol.body", "dev.culvert.protocol.frame",
            "dev.culvert.protocol.session"};
    private static final Set<String> CLOCKS = Set.of("nanoTime", "currentTimeMillis", "now");

    /** Rows of our own packages: {@code edge} stands for its packages, but for handlers, which see the SPI alone. */
    private static final AllowedImports IMPORTS = new AllowedImports().row("protocol.body")
            .libraries("protocol.body", "io.netty.buffer.")
            .row("protocol.frame")
            .libraries("protocol.frame", "io.netty.buffer.", "io.netty.util.")
            .row("protocol.session", "protocol.body", "protocol.frame") // HPACK is Netty's, which does no IO
            .libraries("protocol.session", "io.netty.buffer.", "io.netty.util.",
                    "io.netty.handler.codec.http2.")
            .row("protocol.netty", "protocol.session", "protocol.frame")
            .libraries("protocol.netty", "io.netty.", "reactor.", "org.slf4j.")
            .row("certs")
            .libraries("certs", "org.bouncycastle.", "io.netty.handler.ssl.", "io.netty.util.NetUtil",
                    "org.slf4j.", "javax.")
            .row("edge", "edge.quota", "certs", "edge.config", "edge.spi")
            .libraries("edge", "reactor.", "io.netty.", "io.micrometer.", "org.reactivestreams.",
                    "org.slf4j.",
                    "com.fasterxml.jackson.", "javax.net.ssl.")
            .row("edge.quota") // who may use how much: knows nobody
            .row("edge.config")
            .libraries("edge.config")
            .row("edge.spi")
            .libraries("edge.spi", "reactor.core.", "org.reactivestreams.", "io.netty.buffer.",
                    "io.netty.handler.codec.http.", "io.netty.util.")
            .row("edge.relay", "protocol.body", "edge.quota", "edge")
            .libraries("edge.relay", "io.netty.", "javax.net.ssl.", "org.slf4j.")
            .row("edge.caller", "protocol.body", "edge.quota", "edge.listen", "edge", "edge.config",
                    "edge.relay")
            .row("edge.listen", "edge.quota", "edge", "edge.config", "certs")
            .row("edge.route", "edge", "edge.config")
            .libraries("edge.route", "com.fasterxml.jackson.", "io.netty.handler.codec.http2.")
            .row("edge.sqlite")
            .libraries("edge.sqlite", "reactor.", "org.slf4j.", "org.sqlite.")
            .row("inbox", "edge.quota", "edge", "edge.config", "edge.relay", "edge.route", "edge.sqlite")
            .libraries("inbox", "reactor.", "io.netty.", "io.micrometer.", "org.slf4j.", "javax.crypto.")
            .row("server", "protocol.body", "edge.quota", "protocol.netty", "protocol.session",
                    "protocol.frame", "edge",
                    "edge.config",
                    "edge.relay", "edge.spi", "certs", "server.access", "edge.caller", "edge.listen",
                    "edge.sqlite", "edge.route", "inbox")
            .row("server.access", "edge.quota", "edge.caller", "edge", "edge.relay", "certs")
            .row("client", "protocol.netty", "protocol.session", "protocol.frame", "edge", "edge.config",
                    "edge.route",
                    "edge.relay", "edge.spi", "certs", "router")
            // certs: TLS contexts are made there and nowhere else, those for upstreams too
            .row("router", "protocol.body", "edge.quota", "edge", "edge.config", "edge.relay", "edge.route",
                    "edge.spi",
                    "edge.caller",
                    "edge.listen", "certs", "inbox")
            .row("edge.intake", "edge.quota", "edge.spi")
            .libraries("edge.intake", "reactor.core.", "org.reactivestreams.", "io.netty.buffer.")
            .row("edge.graphql", "edge.quota", "edge.spi", "edge", "edge.intake")
            .libraries("edge.graphql", "graphql.", "reactor.", "io.netty.", "com.fasterxml.jackson.",
                    "org.slf4j.")
            .row("edge.host", "edge.quota", "edge", "edge.spi", "edge.graphql")
            .libraries("edge.host", "reactor.", "io.netty.", "io.micrometer.", "org.reactivestreams.",
                    "org.slf4j.")
            .row("appproxy", "edge.quota", "edge", "edge.config", "edge.spi", "edge.host", "edge.intake",
                    "appproxy.access",
                    "appproxy.argo", "appproxy.commits", "appproxy.repositories")
            .row("appproxy.commits", "edge.config", "edge.spi", "edge.graphql", "appproxy.access",
                    "appproxy.credentials", "appproxy.repositories")
            .libraries("appproxy.commits", "org.eclipse.jgit.", "org.snakeyaml.engine.", "org.slf4j.",
                    "reactor.core.",
                    "org.reactivestreams.", "io.netty.handler.codec.http.", "javax.net.ssl.")
            .row("appproxy.access", "edge", "edge.config", "edge.spi", "certs")
            .row("appproxy.argo", "appproxy.access", "edge.config", "edge.graphql", "edge.spi")
            .row("standins.argo")
            .row("appproxy.credentials", "edge", "edge.config", "edge.spi", "certs", "appproxy.access")
            .row("appproxy.repositories", "edge", "edge.config", "edge.spi", "edge.graphql", "certs",
                    "appproxy.access", "appproxy.credentials")
            .row("standins.git", "certs")
            .row("platform.directory", "edge.quota", "edge", "edge.config", "edge.spi", "edge.sqlite",
                    "edge.graphql",
                    "certs")
            .row("launcher", "launcher.admin", "launcher.certs", "launcher.config", "launcher.demo", "edge",
                    "edge.config", "edge.route", "edge.sqlite", "certs", "server", "client", "router",
                    "appproxy", "platform.directory")
            .row("launcher.admin", "edge")
            .row("launcher.certs", "certs", "edge")
            .row("launcher.config", "edge", "edge.config")
            .row("launcher.demo", "launcher.admin", "launcher.certs", "edge", "edge.config", "edge.spi",
                    "certs", "server", "client", "router", "appproxy", "appproxy.access", "appproxy.argo",
                    "appproxy.commits", "appproxy.credentials", "appproxy.repositories", "platform.directory",
                    "standins.argo");

    @Test
    void everyPackageImportsWhatItsRowAllowsAndNoMore() {
        classes().should(IMPORTS).check(CODE);
    }

    @Test
    void everyRowIsThatOfAPackage() {
        Set<String> packages = CODE.stream().map(JavaClass::getPackageName).collect(Collectors.toSet());

        assertThat(packages).isEqualTo(IMPORTS.packages());
    }

    @Test
    void packagesHaveNoCycles() {
        slices().matching("dev.culvert.(**)").should().beFreeOfCycles().check(CODE);
    }

    @Test
    void noPartImportsAnotherButTheClientItsRouter() {
        var parts = slices().matching("dev.culvert.(server|client|router|appproxy)..");

        parts.should()
                .notDependOnEachOther()
                .ignoreDependency(JavaClass.Predicates.resideInAPackage("dev.culvert.client.."),
                        JavaClass.Predicates.resideInAPackage("dev.culvert.router.."))
                .check(CODE);
    }

    @Test
    void theProtocolsCoreKnowsNoSocketsThreadsOrReactiveStreams() {
        noClasses().that()
                .resideInAnyPackage(PURE)
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("io.netty.channel..", "io.netty.util.concurrent..", "reactor..",
                        "java.net..",
                        "java.util.concurrent..")
                .orShould()
                .dependOnClassesThat()
                .belongToAnyOf(Thread.class, ThreadLocal.class)
                .check(CODE);
    }

    @Test
    void theProtocolsCoreNeverReadsAClock() {
        noClasses().that()
                .resideInAnyPackage(PURE)
                .should()
                .accessTargetWhere(target("a clock",
                        access -> CLOCKS.contains(access.getName()) && access.getOwner()
                                .getPackageName()
                                .matches("java\\.(lang|time).*")))
                .orShould()
                .dependOnClassesThat()
                .belongToAnyOf(Clock.class)
                .check(CODE);
    }

    @Test
    void bouncyCastleStaysInCerts() {
        noClasses().that()
                .resideOutsideOfPackage("dev.culvert.certs")
                .should()
                .dependOnClassesThat()
                .resideInAPackage("org.bouncycastle..")
                .check(CODE);
    }

    @Test
    void nothingBlocksOutsideMain() {
        noClasses().that(describe("are not Main", type -> !outermost(type).getSimpleName().equals("Main")))
                .should()
                .accessTargetWhere(target("a call that blocks",
                        access -> access.getOwner().getPackageName().startsWith("reactor.")
                                && (access.getName().startsWith("block")
                                        || access.getName().endsWith("Now"))))
                .check(CODE);
    }

    @Test
    void everyPackageIsNullMarked() {
        classes().should(satisfy("be in a null-marked package",
                type -> type.getPackage().isAnnotatedWith(NullMarked.class))).check(CODE);
    }

    @Test
    void noNameSaysNothing() {
        noClasses().should()
                .haveNameMatching(".*(Manager|Helper|Utils?|Impl)")
                .orShould()
                .haveSimpleNameStartingWith("Abstract")
                .check(withoutThoseNamedElsewhere());
    }

    @Test
    void accessorsCarryNoGet() {
        methods().that()
                .haveNameMatching("get[A-Z].*")
                .should(new ArchCondition<JavaMethod>("be named by a library") {
                    @Override
                    public void check(JavaMethod method, ConditionEvents events) {
                        if (!overridesALibrarys(method)) {
                            events.add(SimpleConditionEvent.violated(method, method.getDescription()));
                        }
                    }
                })
                .allowEmptyShould(true)
                .check(CODE);
    }

    /** {@code …TrustManager} is what the JDK calls one. */
    private static JavaClasses withoutThoseNamedElsewhere() {
        return CODE.that(describe("not named elsewhere",
                type -> !type.isAssignableTo(javax.net.ssl.TrustManager.class)));
    }

    private static boolean overridesALibrarys(JavaMethod method) {
        JavaClass owner = method.getOwner();
        return Stream.concat(owner.getAllRawSuperclasses().stream(), owner.getAllRawInterfaces().stream())
                .filter(type -> !type.getPackageName().startsWith("dev.culvert"))
                .flatMap(type -> type.getMethods().stream())
                .anyMatch(theirs -> theirs.getName().equals(method.getName()));
    }

    private static JavaClass outermost(JavaClass type) {
        return type.getEnclosingClass().map(ArchitectureTest::outermost).orElse(type);
    }

    private static DescribedPredicate<JavaAccess<?>> target(String what, Predicate<AccessTarget> is) {
        return describe(what, access -> is.test(access.getTarget()));
    }

    private static ArchCondition<JavaClass> satisfy(String what, Predicate<JavaClass> is) {
        return new ArchCondition<>(what) {
            @Override
            public void check(JavaClass type, ConditionEvents events) {
                events.add(new SimpleConditionEvent(type, is.test(type), type.getName()));
            }
        };
    }
}
