/**
 * The demo: real upstreams, all parts on 127.0.0.1 with certificates made on the spot, and checks that send real
 * traffic through every route. Read {@link dev.culvert.launcher.demo.DemoCheck} first.
 */
@NullMarked
package dev.culvert.launcher.demo;

import org.jspecify.annotations.NullMarked;
