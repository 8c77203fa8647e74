exec 3<&0 0</dev/null
trap : INT
while :; do
  IFS=' ' read -r handrail_token handrail_length <&3 || { [ $? -gt 128 ] && continue; break; }
  LC_ALL=C IFS= read -r -N "$handrail_length" handrail_code <&3
  eval "$handrail_code" 3<&-
  printf '\n%s %d\n' "$handrail_token" "$?"
done
