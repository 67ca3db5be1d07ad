/** What the overview says about requests: their figures by runtime, and runtimes whose requests fail. */
@NullMarked
package dev.culvert.server.page.traffic;

import org.jspecify.annotations.NullMarked;
