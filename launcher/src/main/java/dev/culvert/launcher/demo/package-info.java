/**
 * The demo: real upstreams, all services on 127.0.0.1 with newly issued certificates, and checks that send
 * real traffic through every route. Read {@link dev.culvert.launcher.demo.DemoCheck} first.
 */
@NullMarked
package dev.culvert.launcher.demo;

import org.jspecify.annotations.NullMarked;
