// Package sdktest holds the tests in which official Go SDKs judge the fake provider: one package a dialect, each
// with the SDK of that dialect as the client over loopback TCP. It is a module of its own, so that nobody who builds
// the project compiles the SDKs.
package sdktest
