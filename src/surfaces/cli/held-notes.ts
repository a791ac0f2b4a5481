// Notes on stderr that wait while a live tree is on the screen: written in between they would tear it.
import { type CommandIo, note } from './io.ts'

export class HeldNotes {
  readonly #io: CommandIo
  #held: string[] | undefined

  constructor(io: CommandIo) {
    this.#io = io
  }

  add(text: string): void {
    if (this.#held === undefined) note(this.#io, text)
    else this.#held.push(text)
  }

  hold(): void {
    this.#held ??= []
  }

  release(): void {
    const held = this.#held ?? []
    this.#held = undefined
    for (const text of held) note(this.#io, text)
  }
}
