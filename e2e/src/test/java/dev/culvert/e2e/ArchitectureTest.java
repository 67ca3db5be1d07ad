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
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;

/** The floors and their doors (docs/architecture.md), and rules that hold in all packages. The benchmarks are not looked at. */
class ArchitectureTest {
    private static final JavaClasses CODE = new ClassFileImporter()
            .withImportOption(
                    file -> !file.contains("/dev/culvert/e2e/")
                            && !file.contains("/dev/culvert/relay/testing/")
                            && !file.contains("/test-classes/")) // before the jars of tests are packed
            .importPackages("dev.culvert");
    private static final String[] PURE = {"dev.culvert.protocol.body", "dev.culvert.protocol.frame",
            "dev.culvert.protocol.session"};
    private static final Set<String> CLOCKS = Set.of("nanoTime", "currentTimeMillis", "now");
    private static final int MAX_TYPES = 30;
    private static final Set<String> REQUEST_DECODERS = Set.of(
            "io.netty.handler.codec.http.HttpServerCodec", "io.netty.handler.codec.http.HttpRequestDecoder");

    /** The floors, lowest first. A module's door is its root package where no other is named. */
    private static final AllowedImports IMPORTS = new AllowedImports()
            .module("protocol", "")
            .door("protocol", "body fields frame netty session")
            .module("certs", "")
            .door("certs", ". tls")
            .module("config", "")
            .door("config", ". yaml")
            .module("store", "")
            .module("store.postgres", "store")
            .module("http", "config")
            .door("http", "fields forwarding net observe path problem quota")
            .module("relay", "protocol certs config http")
            .door("relay", ". exchange inbound inbound.raw listen observe outbound quota route tls upstream")
            .module("handlers", "config http")
            .door("handlers", "body graphql host rest server spi")
            .module("web", "config http handlers")
            .module("inbox", "config store http relay")
            .door("inbox", ". intake model store")
            .module("admin", "certs config store http handlers inbox")
            .door("admin", ". webhook")
            .module("routing", "config http relay")
            .module("router", "certs config store http relay handlers inbox admin routing")
            .module("server", "protocol certs config store http relay handlers web inbox admin")
            .door("server", ". store")
            .module("client", "protocol certs config http relay handlers routing")
            .door("client", ". dial doctor identity link")
            .module("platform.host", "certs config store http handlers")
            .door("platform.host", ". rest spi")
            .module("platform.directory", "certs config store http handlers platform.host")
            .module("platform.runtimes", "certs config store http handlers platform.host")
            .module("platform.triggers", "config store http handlers platform.host")
            .module("platform.signing", "certs config store http handlers platform.host")
            .module("standins", "certs")
            .door("standins", "argo git")
            .module("appproxy", "certs config http handlers")
            .door("appproxy", ". access argo.api argo.workflow commits credentials repositories")
            .module("launcher",
                    "certs config store http relay server client router routing appproxy platform.host standins")
            .libraries("config", "io.netty. org.snakeyaml.")
            .libraries("store", "reactor. org.slf4j. org.sqlite.")
            .libraries("store.postgres",
                    "reactor. org.slf4j. org.postgresql. com.zaxxer.hikari. org.flywaydb. javax.sql.")
            .libraries("protocol", "io.netty. reactor. org.slf4j.")
            .libraries("certs", "org.bouncycastle. io.netty. org.slf4j. javax.")
            .libraries("http",
                    "reactor. io.netty. io.micrometer. io.prometheus. com.fasterxml.jackson. org.reactivestreams. org.slf4j.")
            .libraries("inbox",
                    "reactor. io.netty. io.micrometer. org.slf4j. org.reactivestreams. javax.crypto.");

    @Test
    void everyModuleImportsWhatItsRowAllowsAndNoMore() {
        classes().should(IMPORTS).check(CODE);
    }

    @Test
    void everyDoorIsAPackage() {
        assertThat(packages()).containsAll(IMPORTS.doors());
    }

    @Test
    void packagesHaveNoCycles() {
        slices().matching("dev.culvert.(**)").should().beFreeOfCycles().check(CODE);
    }

    @Test
    void aPackageIsWhatOnePersonKeepsInMind() {
        assertThat(outermostTypes().collect(
                Collectors.groupingBy(JavaClass::getPackageName, Collectors.counting())))
                .allSatisfy((name, types) -> assertThat(types).as(name).isLessThanOrEqualTo(MAX_TYPES));
    }

    @Test
    void aSimpleNameExistsOnceWithinAFloor() {
        assertThat(outermostTypes().collect(
                Collectors.groupingBy(type -> floor(type) + " " + type.getSimpleName(),
                        Collectors.mapping(JavaClass::getName, Collectors.toList()))))
                .allSatisfy((name, types) -> assertThat(types).hasSize(1));
    }

    /** Modules of the platform do not see each other, so each has its own words; the others share theirs. */
    private static String floor(JavaClass type) {
        String name = type.getPackageName();
        return name.startsWith("dev.culvert.platform.")
                ? String.join(".", List.of(name.split("\\.")).subList(0, 4))
                : "";
    }

    private static Set<String> packages() {
        return CODE.stream().map(JavaClass::getPackageName).collect(Collectors.toSet());
    }

    private static Stream<JavaClass> outermostTypes() {
        return CODE.stream()
                .filter(type -> type.getEnclosingClass().isEmpty()
                        && !type.getSimpleName().equals("package-info"));
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
                .resideOutsideOfPackage("dev.culvert.certs..")
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

    /** What listens by itself reads heads as its library does. The demo's services and the stand-ins may. */
    @Test
    void everyHttpListenerStandsBehindTheJudge() {
        noClasses().that()
                .doNotHaveFullyQualifiedName("dev.culvert.handlers.server.EdgeServer")
                .and()
                .resideOutsideOfPackages("dev.culvert.standins..", "dev.culvert.launcher.demo..")
                .should()
                .accessTargetWhere(target("a server of its own",
                        access -> access.getOwner().getName().equals("reactor.netty.http.server.HttpServer")
                                || access.getOwner().getName().startsWith("com.sun.net.httpserver.")))
                .orShould()
                .accessTargetWhere(target("a decoder of requests of its own",
                        access -> access.getName().equals("<init>") && REQUEST_DECODERS.contains(
                                access.getOwner().getFullName())))
                .check(CODE.that(describe("not the judged decoder",
                        type -> !type.getSimpleName().equals("JudgedRequestDecoder"))));
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
