package dev.culvert.appproxy.git;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.culvert.handlers.spi.EdgeRequest;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import dev.culvert.handlers.spi.RequestContext;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import java.net.InetSocketAddress;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Flux;

class GitCallTest {
    @ParameterizedTest
    @CsvSource({
            "GET,/app-proxy/git/a.b-c_1.git/info/refs?service=git-upload-pack,UPLOAD_PACK,/a.b-c_1.git/info/refs",
            "GET,/app-proxy/git/demo.git/info/refs?service=git-receive-pack,RECEIVE_PACK,/demo.git/info/refs",
            "POST,/app-proxy/git/demo.git/git-upload-pack,UPLOAD_PACK,/demo.git/git-upload-pack",
            "POST,/app-proxy/git/demo.git/git-receive-pack,RECEIVE_PACK,/demo.git/git-receive-pack"})
    void readsTheCallsOfSmartHttp(String method, String target, GitCall.Service service, String pathInfo) {
        GitCall call = GitCall.of(request(method, target));

        assertThat(call.service()).isEqualTo(service);
        assertThat(call.pathInfo()).isEqualTo(pathInfo);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "/", "demo.git", "demo.git/", "demo.git/HEAD", "demo.git/objects/info/packs",
            "demo.git/info/refs", "demo.git/info/refs?service=git-upload-archive", "demo.git/info/refs?x=y",
            "demo.git/info/refs?service=git-upload-pack&x", ".git/info/refs?service=git-upload-pack",
            ".a.git/info/refs?service=git-upload-pack", "-a.git/info/refs?service=git-upload-pack",
            "../demo.git/info/refs?service=git-upload-pack", "a/demo.git/info/refs?service=git-upload-pack",
            "a%2fdemo.git/info/refs?service=git-upload-pack", "demo/info/refs?service=git-upload-pack",
            "d\u00e9mo.git/info/refs?service=git-upload-pack", "/demo.git/info/refs?service=git-upload-pack"})
    void findsNothingElse(String path) {
        assertThatThrownBy(() -> GitCall.of(request("GET", "/app-proxy/git/" + path)))
                .isInstanceOfSatisfying(HandlerException.class,
                        e -> assertThat(e.reason()).isEqualTo(Reason.NOT_FOUND));
    }

    @Test
    void namesAreBounded() {
        String path = "/app-proxy/git/" + "a".repeat(101) + ".git/info/refs?service=git-upload-pack";

        assertThatThrownBy(() -> GitCall.of(request("GET", path))).isInstanceOf(HandlerException.class);
    }

    @ParameterizedTest
    @CsvSource({"POST,/app-proxy/git/demo.git/info/refs?service=git-upload-pack,GET",
            "GET,/app-proxy/git/demo.git/git-upload-pack,POST",
            "PUT,/app-proxy/git/demo.git/git-receive-pack,POST"})
    void otherMethodsAreToldWhichOneToUse(String method, String target, String allowed) {
        assertThatThrownBy(() -> GitCall.of(request(method, target))).isInstanceOfSatisfying(
                HandlerException.class,
                e -> assertThat(e.fields().get("allow")).isEqualTo(allowed));
    }

    private static EdgeRequest request(String method, String target) {
        return new EdgeRequest(HttpMethod.valueOf(method), target, new DefaultHttpHeaders(), Flux.empty(),
                RequestContext.of("r", InetSocketAddress.createUnresolved("127.0.0.1", 1)));
    }
}
