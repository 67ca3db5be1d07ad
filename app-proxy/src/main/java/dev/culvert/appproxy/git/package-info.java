/** Git over HTTP, served by git http-backend. */
@NullMarked
package dev.culvert.appproxy.git;

import org.jspecify.annotations.NullMarked;
