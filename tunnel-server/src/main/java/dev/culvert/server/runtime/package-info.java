/** Runtimes: names, registration, tokens for enrolment. */
@NullMarked
package dev.culvert.server.runtime;

import org.jspecify.annotations.NullMarked;
