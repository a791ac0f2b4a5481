// A terminal or a pipe that resolves when a text was written to it, for tests of live views.
import { cleanText } from '../../../src/surfaces/terminal/terminal-text.ts'
import { type FakeIo, fakeIo } from './fake-io.ts'

/** What was written so far, and a promise for when something was written that fits. */
export function listening(options: { tty: boolean }) {
  const io: FakeIo = fakeIo(options)
  const watchers = new Set<() => void>()
  const { write } = io.stdout
  io.stdout.write = (text) => {
    write(text)
    for (const watcher of watchers) watcher()
  }
  const wrote = (pattern: RegExp) =>
    new Promise<void>((resolve) => {
      const look = () => {
        if (!pattern.test(cleanText(io.out()))) return
        watchers.delete(look)
        resolve()
      }
      watchers.add(look)
      look()
    })
  return { io, wrote }
}
