// Mirrors of a board: which process writes the files of a folder, and the texts that were written.
import { type Theme, write } from './contract-world.ts'

export const mirrors: Theme = ({ describe, proves, expect }) => {
  describe('a mirrored folder', () => {
    proves('a mirrored folder is held by one instance at a time, and only that one can release it', async (ledger) => {
      const holder = () => ledger.read((tx) => tx.mirror.holder('/a "dir"'))
      expect(await holder()).toBe(undefined)
      await write(ledger, (tx) => tx.mirror.hold('/a "dir"', 'main', 'engine-1', 10))
      await write(ledger, (tx) => tx.mirror.hold('/b', 'main', 'engine-2', 10))
      expect(await holder()).toEqual({ board: 'main', instanceId: 'engine-1', until: 10 })
      await write(ledger, (tx) => tx.mirror.release('/a "dir"', 'engine-2'))
      expect(await holder()).toEqual({ board: 'main', instanceId: 'engine-1', until: 10 })
      await write(ledger, (tx) => tx.mirror.hold('/a "dir"', 'part', 'engine-2', 8.64e15))
      expect(await holder()).toEqual({ board: 'part', instanceId: 'engine-2', until: 8.64e15 })
      await write(ledger, (tx) => tx.mirror.release('/a "dir"', 'engine-2'))
      expect(await holder()).toBe(undefined)
      expect(await ledger.read((tx) => tx.mirror.holder('/b'))).toMatchObject({ instanceId: 'engine-2' })
    })

    proves('a mirrored folder stores the texts of each file by version, newest first', async (ledger) => {
      const text = (dir: string, number: number, version: number) => ({
        dir,
        number,
        version,
        text: `${dir} ${number} ${version} '"\\ 漢\n`,
      })
      const texts = async (number: number, limit = 9, dir = '/a') =>
        (await ledger.read((tx) => tx.mirror.texts(dir, number, limit))).map(({ version }) => version)
      await write(ledger, function* (tx) {
        for (const version of [1, 2, 10]) yield* tx.mirror.keep(text('/a', 1, version))
        yield* tx.mirror.keep(text('/a', 10, 1))
        yield* tx.mirror.keep(text('/a', 2, 1))
        yield* tx.mirror.keep(text('/b', 1, 5))
      })
      expect(await texts(1)).toEqual([10, 2, 1])
      expect(await texts(1, 1)).toEqual([10])
      expect(await texts(3)).toEqual([])
      expect(await ledger.read((tx) => tx.mirror.texts('/a', 1, 1))).toEqual([text('/a', 1, 10)])
      expect(await ledger.read((tx) => tx.mirror.numbers('/a'))).toEqual([1, 2, 10])
      await write(ledger, (tx) => tx.mirror.keep({ ...text('/a', 1, 10), text: 'another' }))
      expect(await ledger.read((tx) => tx.mirror.texts('/a', 1, 1))).toMatchObject([{ version: 10, text: 'another' }])
    })

    proves('a mirrored folder forgets the texts of a file before a version, or all', async (ledger) => {
      await write(ledger, function* (tx) {
        for (const dir of ['/a', '/b'])
          for (const number of [1, 2])
            for (const version of [1, 2, 3]) yield* tx.mirror.keep({ dir, number, version, text: '' })
        yield* tx.mirror.forget('/a', 1, 3)
        yield* tx.mirror.forget('/a', 2, Infinity)
      })
      const versions = async (dir: string, number: number) =>
        (await ledger.read((tx) => tx.mirror.texts(dir, number, 9))).map(({ version }) => version)
      expect(await versions('/a', 1)).toEqual([3])
      expect(await versions('/a', 2)).toEqual([])
      expect(await versions('/b', 1)).toEqual([3, 2, 1])
      expect(await ledger.read((tx) => tx.mirror.numbers('/a'))).toEqual([1])
    })
  })
}
