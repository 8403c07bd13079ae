/** The script for each shell. It asks the command itself what may be at the cursor. */
export const SCRIPTS = {
  bash: `_petstore_harness() {
  local IFS=$'\\n'
  COMPREPLY=($("\${COMP_WORDS[0]}" completion bash -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _petstore_harness petstore-harness
`,
  zsh: `#compdef petstore-harness
_petstore_harness() {
  local -a found
  found=("\${(@f)$("\${words[1]}" completion zsh -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n "$found" ]]; then compadd -- "\${found[@]}"; else _files; fi
}
compdef _petstore_harness petstore-harness
`,
  fish: `function __petstore_harness
  set -l words (commandline -opc)
  set -l typed (commandline -ct)
  set -l found ($words[1] completion fish -- $words[2..-1] "$typed" 2>/dev/null)
  set -q found[1]; and printf '%s\\n' $found; or __fish_complete_path "$typed"
end
complete -c petstore-harness -f -a '(__petstore_harness)'
`,
} as const;

export const SHELLS = Object.keys(SCRIPTS);
