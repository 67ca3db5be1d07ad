/** Argo CD applications. */
@NullMarked
package dev.culvert.appproxy.argo.application;

import org.jspecify.annotations.NullMarked;
