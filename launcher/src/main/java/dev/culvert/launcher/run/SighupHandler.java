package dev.culvert.launcher.run;

import java.lang.reflect.Proxy;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Handles SIGHUP. The JDK's package for signals is optional, so it is accessed by reflection. */
final class SighupHandler {
    private static final Logger LOG = LoggerFactory.getLogger(SighupHandler.class);

    private SighupHandler() {}

    /**
     * Sets the action of the signal and replaces the previous one. The action runs on a thread of the JDK and
     * must not block.
     */
    static void onSignal(Runnable action) {
        try {
            Class<?> signal = Class.forName("sun.misc.Signal");
            Class<?> handler = Class.forName("sun.misc.SignalHandler");
            Object handling = Proxy.newProxyInstance(SighupHandler.class.getClassLoader(),
                    new Class<?>[]{handler},
                    (proxy, method, arguments) -> {
                        if (method.getName().equals("handle")) {
                            action.run();
                        }
                        return null;
                    });
            signal.getMethod("handle", signal, handler)
                    .invoke(null, signal.getConstructor(String.class).newInstance("HUP"), handling);
        } catch (ReflectiveOperationException | IllegalArgumentException e) {
            LOG.atDebug()
                    .addKeyValue("reason", e.toString())
                    .log("SIGHUP is not available; changed files are detected anyway");
        }
    }
}
