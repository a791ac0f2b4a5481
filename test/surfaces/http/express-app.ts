// An Express application that listens, with a listener below a path. Express has no types of its own.
import type { RequestListener, Server } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

interface Application {
  use(path: string, listener: RequestListener): void
  get(path: string, handler: (request: unknown, response: { send(text: string): void }) => void): void
  listen(port: number, host: string): Server
}

const express = createRequire(import.meta.url)('express') as () => Application

/** Resolves to the address of an application whose own route `/` answers `mine`. It is closed at the end of the test. */
export async function listenWithExpress(path: string, listener: RequestListener): Promise<string> {
  const app = express()
  app.use(path, listener)
  app.get('/', (_request, response) => response.send('mine'))
  const server = app.listen(0, '127.0.0.1')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  await new Promise((resolve) => server.once('listening', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
